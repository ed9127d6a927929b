#!/bin/sh
# Makes the bucket, and the user who owns it and has no right to another, or gives the user its password anew.
set -eu

until versitygw admin list-buckets; do sleep 1; done >/dev/null
versitygw admin create-user --access epitome --secret "$S3_PASSWORD" --role user ||
	versitygw admin update-user --access epitome --secret "$S3_PASSWORD"
versitygw admin create-bucket --owner epitome --bucket epitome ||
	versitygw admin change-bucket-owner --owner epitome --bucket epitome
