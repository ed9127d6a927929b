package bucket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// signing is where and when a request is signed.
type signing struct {
	region string
	now    time.Time
}

// sign puts a signature of version 4 on a request, over its body, its address and all its headers.
func sign(req *http.Request, body []byte, by credential, at signing) {
	sum := sha256.Sum256(body)
	now := at.now.UTC().Format("20060102T150405Z")
	req.Header.Set("X-Amz-Date", now)
	req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	if by.token != "" {
		req.Header.Set("X-Amz-Security-Token", by.token)
	}
	lines := map[string]string{"host": req.URL.Host}
	for name, values := range req.Header {
		lines[strings.ToLower(name)] = strings.TrimSpace(strings.Join(values, ","))
	}
	var names []string
	for name := range lines {
		names = append(names, name)
	}
	slices.Sort(names)
	var heads strings.Builder
	for _, name := range names {
		heads.WriteString(name + ":" + lines[name] + "\n")
	}
	signed := strings.Join(names, ";")
	canonical := strings.Join([]string{req.Method, req.URL.EscapedPath(), req.URL.RawQuery, heads.String(), signed,
		hex.EncodeToString(sum[:])}, "\n")
	digest := sha256.Sum256([]byte(canonical))
	scope := now[:8] + "/" + at.region + "/s3/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + now + "\n" + scope + "\n" + hex.EncodeToString(digest[:])
	key := []byte("AWS4" + by.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = keyed(key, part)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+by.id+"/"+scope+", SignedHeaders="+signed+
		", Signature="+hex.EncodeToString(keyed(key, text)))
}

// keyed is the keyed hash of a text.
func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
