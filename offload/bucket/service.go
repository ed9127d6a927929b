package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// service speaks S3 to the server of one bucket. Every error of the server is a *refusal.
type service struct {
	bucket      string
	client      *minio.Core
	credentials *credentials.Credentials
	identity    *http.Client // asks the machine or the cluster for credentials
}

// newService returns the service of an address. Credentials are looked for in the environment, in the file of Amazon's
// tools, and in what a cluster or a machine gives its programs.
func newService(at Address, timeout time.Duration) (*service, error) {
	region := cmp.Or(at.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
	s := &service{bucket: at.Bucket, identity: &http.Client{Timeout: timeout}}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		providers = append(providers, &credentials.IAM{Client: s.identity, Region: region})
	}
	s.credentials = credentials.NewChainCredentials(providers)
	lookup := minio.BucketLookupDNS
	if at.PathStyle || strings.Contains(at.Bucket, ".") { // certificates of such services cover no bucket name with a dot
		lookup = minio.BucketLookupPath
	}
	client, err := minio.NewCore(cmp.Or(at.Endpoint, "s3."+region+".amazonaws.com"), &minio.Options{
		Creds: s.credentials, Secure: at.Secure, Region: region, BucketLookup: lookup,
		MaxRetries: 2, // a connection that broke is worth one more try; watch sees to the rest
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 16, IdleConnTimeout: 20 * time.Second,
			DisableCompression: true,
		},
	})
	s.client = client
	return s, err
}

// refusal is an answer of the service that reports an error.
type refusal struct {
	status int
	code   string // as the service calls it; empty if it does not say
}

func (r *refusal) Error() string {
	if r.code == "" {
		return fmt.Sprintf("the service answers %d %s", r.status, http.StatusText(r.status))
	}
	return fmt.Sprintf("the service answers %d, %.64q", r.status, r.code)
}

// refused returns err as a *refusal if it is an answer of the service, whose words may repeat what was sent.
func refused(err error) error {
	if said := (minio.ErrorResponse{}); errors.As(err, &said) && said.StatusCode != 0 {
		return &refusal{said.StatusCode, said.Code}
	}
	return err
}

// errNoCredential says what to do where no credential is found.
var errNoCredential = errors.New("there is no credential for the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
	"write ~/.aws/credentials, or give the machine a role")

// haveCredential returns an error if requests cannot be signed. Without it they would be sent unsigned.
func (s *service) haveCredential() error {
	value, err := s.credentials.GetWithContext(&credentials.CredContext{Client: s.identity})
	switch {
	case err != nil:
		return fmt.Errorf("cannot get a credential for the bucket: %w", err)
	case value.AccessKeyID == "" || value.SecretAccessKey == "":
		return errNoCredential
	}
	return nil
}

// put writes an object with metadata. If isNew, it fails where the object exists.
func (s *service) put(ctx context.Context, key string, content []byte, meta map[string]string, isNew bool) error {
	if err := s.haveCredential(); err != nil {
		return err
	}
	o := minio.PutObjectOptions{ContentType: "text/plain; charset=utf-8", UserMetadata: meta}
	if isNew {
		o.SetMatchETagExcept("*")
	}
	sum := sha256.Sum256(content)
	_, err := s.client.PutObject(ctx, s.bucket, key, bytes.NewReader(content), int64(len(content)), "",
		hex.EncodeToString(sum[:]), o)
	return refused(err)
}

// stat returns the metadata of an object.
func (s *service) stat(ctx context.Context, key string) (minio.ObjectInfo, error) {
	if err := s.haveCredential(); err != nil {
		return minio.ObjectInfo{}, err
	}
	info, err := s.client.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	return info, refused(err)
}

// get returns an object, or the first most bytes of it.
func (s *service) get(ctx context.Context, key string, most int64) ([]byte, error) {
	if err := s.haveCredential(); err != nil {
		return nil, err
	}
	body, _, _, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, refused(err)
	}
	defer func() { _ = body.Close() }()
	return io.ReadAll(io.LimitReader(body, most))
}
