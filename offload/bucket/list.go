package bucket

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// mostListed is more than a page of a list has, in bytes.
const mostListed = 16 << 20

// listed is one page of what lies in a bucket.
type listed struct {
	Contents  []struct{ Key string }
	Truncated bool   `xml:"IsTruncated"`
	Next      string `xml:"NextContinuationToken"`
}

// Names are the names of all contents. It needs the right to list the bucket, which nothing else does.
func (b *Bucket) Names() (names []string, err error) {
	for next := ""; ; {
		page, err := b.list(next)
		if err != nil {
			return nil, fmt.Errorf("cannot list bucket %s: %w", b.o.Address, err)
		}
		for _, o := range page.Contents {
			name, below := strings.CutPrefix(o.Key, b.o.Address.Prefix)
			name, content := strings.CutSuffix(name, contentEnd)
			if below && content {
				names = append(names, name)
			}
		}
		if !page.Truncated {
			return names, nil
		}
		if page.Next == "" || page.Next == next {
			return nil, fmt.Errorf("cannot list bucket %s: a page does not say how to go on", b.o.Address)
		}
		next = page.Next
	}
}

// list asks for the page behind another one.
func (b *Bucket) list(behind string) (page listed, err error) {
	query := [][2]string{{"list-type", "2"}, {"prefix", b.o.Address.Prefix}}
	if behind != "" { // parts of a query are signed in the order of their names
		query = append([][2]string{{"continuation-token", behind}}, query...)
	}
	err = b.do(mostListed/16, func(ctx context.Context) error {
		_, body, err := b.service.send(ctx, request{method: http.MethodGet, query: query, most: mostListed})
		if err == nil {
			err = xml.Unmarshal(body, &page)
		}
		return err
	})
	return page, err
}

// Offer puts a key of names where there is none yet.
func (b *Bucket) Offer(secret []byte) error {
	_, err := b.readSecret()
	if errors.Is(err, fs.ErrNotExist) { // not every service keeps what is there when it is asked to
		err = b.putSecret(secret)
	}
	return err
}

// putSecret puts a key of names, unless somebody else has put one.
func (b *Bucket) putSecret(secret []byte) error {
	only := http.Header{"If-None-Match": {"*"}}
	return failure(b.put(b.o.Address.Prefix+secretKey, secret, only))
}
