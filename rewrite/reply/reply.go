// Package reply is what the answers of all APIs have in common: how a document is opened, what an event of a stream
// means for what reads it, how much of an answer is heard at the most, and what a refusal asks for.
//
// It promises to know no API by name: what only one of them writes is handed in by its dialect.
package reply

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/prose"
	"epitome/rewrite/jsonspan"
	"epitome/unit"
)

// Bounds of an answer, in bytes.
const (
	MostDocument = 4 << 20 // one that is not streamed; with what was thought
	MostText     = 1 << 20
	mostError    = 64 << 10
)

// Why an answer is not heard.
var (
	ErrLongText = errors.New("the text of the answer is too long")
	ErrNoJSON   = errors.New("the answer is not JSON")
)

// Parse reads an answer that is no stream. One without a byte has broken off: it is io.ErrUnexpectedEOF.
func Parse(doc []byte) (gjson.Result, error) {
	switch {
	case len(bytes.TrimSpace(doc)) == 0:
		return gjson.Result{}, io.ErrUnexpectedEOF
	case !jsonspan.Valid(doc):
		return gjson.Result{}, ErrNoJSON
	}
	return gjson.ParseBytes(doc), nil
}

// Failure is what is kept of what a provider says went wrong.
func Failure(said []byte) []byte { return bytes.Clone(said[:min(len(said), mostError)]) }

// Tokens is a number of tokens; ok is false for what cannot be one.
func Tokens(v gjson.Result) (n int, ok bool) {
	if v.Type != gjson.Number || v.Int() < 0 || v.Int() > unit.MostTokens {
		return 0, false
	}
	return int(v.Int()), true
}

// streamWord matches a complaint about streams, and none about an upstream.
var streamWord = pattern.Of(`(?i)\bstream(?:ing|ed)?\b`)

// WantsStream reports whether a provider that refused f wants to be asked for a stream.
func WantsStream(f prose.Form, refusal []byte) bool { return !f.Stream && streamWord.Match(refusal) }

// LowerCap returns f with the cap on the output that a refusal names, in the first group of most; ok is false if that
// is no lower one. named is false for a refusal that names none.
func LowerCap(f prose.Form, refusal []byte, most *pattern.Pattern) (lower prose.Form, ok, named bool) {
	found := most.FindSubmatch(refusal)
	if found == nil {
		return f, false, false
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil || n <= 0 || n >= f.MaxOutput {
		return f, false, true
	}
	f.MaxOutput = n
	return f, true, true
}
