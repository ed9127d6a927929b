package config

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"epitome/console"
	"epitome/internal/unit"
	"epitome/offload"
)

// checkBucket refuses a bucket that cannot be one.
func checkBucket(c OffloadConfig) error {
	if c.Bucket == "" {
		if c.Secret != "" {
			return unit.Wrong([]string{"offload", "secret_file"},
				"cannot use offload.secret_file without offload.bucket: in a folder the secret lies beside the artifacts; remove it")
		}
		return nil
	}
	if err := offload.CheckBucket(c.Bucket); err != nil {
		return unit.Wrong([]string{"offload", "bucket"}, "cannot use offload.bucket: %w", err)
	}
	if _, err := ReadSecret(c); err != nil {
		return unit.Wrong([]string{"offload", "secret_file"}, "cannot use offload.secret_file: %w", err)
	}
	return nil
}

// checkReach refuses a bucket of an epitome that listens at the address if agents were told an address that leads them
// to themselves.
func checkReach(c Config, address string) error {
	if o := c.Offload; o.Bucket == "" || o.URL != "" || o.Place() == "none" || console.Loopback(address) {
		return nil
	}
	return unit.Wrong([]string{"offload", "url"}, "cannot use offload.bucket on %s without offload.url: agents elsewhere "+
		"would be told an address of their own machine; write the URL by which they reach epitome, as "+
		"https://epitome.example.com/-/artifacts/", address)
}

// ReadSecret returns the key of artifacts' names that the configuration gives; nil if it gives none.
func ReadSecret(c OffloadConfig) ([]byte, error) {
	if c.Secret == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.Secret)
	if err != nil {
		return nil, fmt.Errorf("%w; give a file with 64 hexadecimal digits (openssl rand -hex 32)", err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) != secretBytes {
		return nil, errors.New("it does not hold 64 hexadecimal digits; make it with: openssl rand -hex 32")
	}
	return secret, nil
}

// NoBucket is the error of a bucket that cannot be used when epitome starts.
func NoBucket(err error) error {
	return unit.Wrong([]string{"offload", "bucket"}, "%w; see to bucket and credentials, or write offload.secret_file, "+
		"with which epitome starts while the bucket cannot be reached", err)
}

// secretBytes is how long the key of artifacts' names is.
const secretBytes = 32
