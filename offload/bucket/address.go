package bucket

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// Address is where a bucket is: s3://BUCKET/PREFIX?endpoint=URL&region=REGION&path_style=true.
type Address struct {
	Bucket    string
	Prefix    string // empty, or with a slash at its end
	Endpoint  string // host and port; empty: Amazon's of the region
	Secure    bool   // https
	Region    string // empty: what the environment or the service says
	PathStyle bool   // the bucket stands in the path, not in the host's name
}

// Parse reads an address. The error says what to write, and does not repeat the text.
func Parse(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return Address{}, errors.New("write s3://BUCKET/PREFIX, without credentials; they come from the environment")
	}
	a := Address{Bucket: u.Host, Secure: true}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		a.Prefix = prefix + "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Address{}, errors.New("its query cannot be read; write ?endpoint=URL&region=REGION&path_style=true, or some of them")
	}
	for key, values := range query {
		switch value := values[len(values)-1]; key {
		case "endpoint":
			err = a.setEndpoint(value)
		case "region":
			a.Region = value
		case "path_style":
			if a.PathStyle, err = strconv.ParseBool(value); err != nil {
				err = errors.New("path_style is true or false")
			}
		default:
			err = errors.New("its query has an unknown key; write endpoint, region and path_style, or some of them")
		}
		if err != nil {
			return Address{}, err
		}
	}
	return a, nil
}

// setEndpoint reads the base URL of a service other than Amazon's.
func (a *Address) setEndpoint(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" {
		return errors.New("its endpoint is no base URL; write one such as https://s3.example.com")
	}
	a.Endpoint, a.Secure = u.Host, u.Scheme == "https"
	return nil
}

// String is the address without its query.
func (a Address) String() string { return "s3://" + a.Bucket + "/" + a.Prefix }
