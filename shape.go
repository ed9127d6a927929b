package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"epitome/proxy"
	"epitome/rewrite"
)

// shaping adds to p what becomes of conversations. Scopes are named by hashes that are keyed with the secret.
func shaping(p proxy.Plugs, secret []byte) proxy.Plugs {
	whole := func(a rewrite.Asked) rewrite.Shaped {
		return rewrite.Shaped{Body: a.Body, Report: rewrite.Report{Action: rewrite.ActionNone}}
	}
	p.Shape, p.Observe = whole, whole
	p.Scope = func(kind, value string) string { return scopeName(secret, kind, value) }
	return p
}

// scopeName names the scope of all requests with this value of the kind, which is "credential" or "header:NAME".
func scopeName(secret []byte, kind, value string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("scope " + kind + "\n" + value)) // a kind holds no line break
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
