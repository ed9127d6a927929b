package offload

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"epitome/store"
)

// bucket is a place in an S3 bucket, with one object for each content. The last change of an object is its last
// renewal. What has expired is not deleted: a lifecycle rule of the bucket does that.
type bucket struct {
	name     string
	prefix   string // of keys; empty, or with a slash at its end
	endpoint string // host and port of the service
	options  minio.Options
	client   *minio.Core
	server   *store.Monitor
}

const (
	bucketTimeout = 2 * time.Second // for a request, beside the time for its bytes
	bucketLong    = time.Second     // a request that takes longer is slow
	bucketAtOnce  = 64              // requests
	slowest       = 1 << 20         // bytes that the service must move in a second
	textType      = "text/plain; charset=utf-8"
	secretObject  = "secret"
	probeObject   = "probe" // written at the start, so that the log shows a wrong configuration early
)

// OpenBucket returns the shelf in the bucket at s3://BUCKET/PREFIX?endpoint=URL&region=REGION&path_style=true.
// Credentials come from the environment, from ~/.aws/credentials, or from the cluster or machine. With Options.Secret
// the shelf opens while the service does not answer.
func OpenBucket(address string, o Options) (*Shelf, error) {
	b, err := parseBucket(address)
	if err == nil {
		err = b.connect()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the bucket of artifacts: %w", err)
	}
	b.server = store.NewMonitor(store.Server{
		Name: "the bucket of artifacts", Log: cmp.Or(o.Log, silent), Ping: b.ping, NoAnswer: isUnanswered,
		AtOnce: bucketAtOnce, Long: bucketLong, Observe: o.Observe,
	})
	s, err := (&Shelf{place: b, server: b.server}).open(o)
	if err == nil {
		probe := func() error { return b.put(probeObject, []byte("epitome\n")) }
		go func() { _ = store.Try(probe) }() // a failure is logged
	}
	return s, err
}

// CheckBucket returns what is wrong with the address of a bucket. It does not repeat the address.
func CheckBucket(address string) error {
	_, err := parseBucket(address)
	return err
}

func parseBucket(address string) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("write s3://BUCKET/PREFIX, without credentials; they come from the environment")
	}
	query := u.Query()
	for key := range query {
		if key != "endpoint" && key != "region" && key != "path_style" {
			return nil, errors.New("its query has an unknown key; " +
				"write endpoint, region and path_style, or some of them")
		}
	}
	region := cmp.Or(query.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
	service, err := url.Parse(cmp.Or(query.Get("endpoint"), "https://s3."+region+".amazonaws.com"))
	isWeb := err == nil && (service.Scheme == "http" || service.Scheme == "https")
	if !isWeb || service.Host == "" || service.User != nil {
		return nil, errors.New("its endpoint must be a URL such as https://s3.example.com")
	}
	inPath, err := strconv.ParseBool(cmp.Or(query.Get("path_style"), "false"))
	if err != nil {
		return nil, errors.New("path_style must be true or false")
	}
	lookup := minio.BucketLookupDNS              // the bucket stands in the host of URLs, not in their path
	if inPath || strings.Contains(u.Host, ".") { // no certificate covers a host with more dots
		lookup = minio.BucketLookupPath
	}
	return &bucket{
		name: u.Host, prefix: strings.TrimPrefix(strings.Trim(u.Path, "/")+"/", "/"), endpoint: service.Host,
		options: minio.Options{Secure: service.Scheme == "https", Region: region, BucketLookup: lookup, MaxRetries: 2},
	}, nil
}

// connect makes the client of the service. It sends no request to it.
func (b *bucket) connect() (err error) {
	identity := &http.Client{Timeout: bucketTimeout}
	known := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{}, &credentials.IAM{Client: identity, Region: b.options.Region}})
	value, err := known.GetWithContext(&credentials.CredContext{Client: identity})
	if err != nil || value.AccessKeyID == "" || value.SecretAccessKey == "" { // requests would be sent unsigned
		return errors.New("there is no credential: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
			"write ~/.aws/credentials, or give the machine a role")
	}
	b.options.Creds = known
	transport, err := minio.DefaultTransport(b.options.Secure)
	if err != nil {
		return err
	}
	transport.MaxIdleConnsPerHost = bucketAtOnce // else most requests of a burst open a connection
	b.options.Transport = transport
	b.client, err = minio.NewCore(b.endpoint, &b.options)
	return err
}

// do makes a request about size bytes. The error is fs.ErrNotExist if there is no such object, and fs.ErrExist if there
// is one that must not be replaced.
func (b *bucket) do(size int64, request func(ctx context.Context) error) error {
	var answer error // that a working service gives, and so no error to Do
	err := b.server.Do(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, bucketTimeout+time.Duration(size)*time.Second/slowest)
		defer cancel()
		err := request(ctx)
		said := minio.ToErrorResponse(err)
		switch {
		case said.StatusCode == http.StatusNotFound && said.Code != minio.NoSuchBucket:
			answer = fs.ErrNotExist
		case said.StatusCode == http.StatusPreconditionFailed, said.StatusCode == http.StatusConflict: // two wrote at once
			answer = fs.ErrExist
		case err == ErrNotDeleted:
			answer = err
		default:
			return plain(err)
		}
		return nil
	})
	return errors.Join(answer, err)
}

// plain returns the error of a request without words of the service, which may repeat the request, and without names of
// artifacts.
func plain(err error) error {
	said := minio.ToErrorResponse(err)
	if said.StatusCode == 0 {
		return cause(err)
	}
	text := fmt.Sprintf("the service answers %d %.64q", said.StatusCode, said.Code)
	return minio.ErrorResponse{StatusCode: said.StatusCode, Code: said.Code, Message: text}
}

// isUnanswered reports whether the service has not answered, or answered that it does not work.
func isUnanswered(err error) bool {
	status := minio.ToErrorResponse(err).StatusCode
	return status == 0 || status >= http.StatusInternalServerError
}

func (b *bucket) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	_, err := b.client.StatObject(ctx, b.name, b.prefix+secretObject, minio.StatObjectOptions{})
	return plain(err)
}

// write writes an object.
func (b *bucket) write(name string, content []byte, o minio.PutObjectOptions) error {
	o.ContentType = textType
	sum := sha256.Sum256(content)
	return b.do(int64(len(content)), func(ctx context.Context) error {
		_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(content), int64(len(content)), "",
			hex.EncodeToString(sum[:]), o)
		return err
	})
}

func (b *bucket) get(name string) (content []byte, err error) {
	const usual = 16 << 20 // bytes: a larger object must come faster
	err = b.do(usual, func(ctx context.Context) error {
		body, _, _, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer body.Close()
		content, err = io.ReadAll(body)
		return err
	})
	return content, err
}

func (b *bucket) secret() ([]byte, error) {
	read := func() ([]byte, error) { return b.get(secretObject) }
	create := func(secret []byte) error {
		var o minio.PutObjectOptions
		o.SetMatchETagExcept("*") // only if there is none
		return b.write(secretObject, secret, o)
	}
	return secretOf("the object "+b.prefix+secretObject, read, create)
}

func (b *bucket) put(name string, content []byte) error {
	return b.write(name, content, minio.PutObjectOptions{})
}

// renew has the service copy an object onto itself.
func (b *bucket) renew(name string, age time.Duration) error {
	key := b.prefix + name
	var info minio.ObjectInfo
	err := b.do(0, func(ctx context.Context) (err error) {
		info, err = b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
		return err
	})
	if err != nil || time.Since(info.LastModified) < age {
		return err
	}
	return b.do(info.Size, func(ctx context.Context) error {
		_, err := b.client.CopyObject(ctx, b.name, key, b.name, key,
			map[string]string{"x-amz-metadata-directive": "REPLACE", "content-type": textType},
			minio.CopySrcOptions{}, minio.PutObjectOptions{})
		return err
	})
}

func (b *bucket) remove(name string) error {
	return b.do(0, func(ctx context.Context) error {
		err := b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
		if minio.ToErrorResponse(err).Code == minio.AccessDenied { // epitome deletes nothing else
			return ErrNotDeleted
		}
		return err
	})
}
