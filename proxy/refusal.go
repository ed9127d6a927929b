package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"epitome/event"
	"epitome/proxy/wire"
)

// refusal is an answer of epitome's own to a request that it does not forward, or that the upstream did not answer.
type refusal struct {
	status  int
	code    string // for programs
	message string // one sentence that says what to do
	lines   string // further header lines, each with its CRLF
}

// refuse makes a refusal. Each of the further header lines has its CRLF.
func refuse(status int, code, message string, lines ...string) *refusal {
	return &refusal{status: status, code: code, message: message, lines: strings.Join(lines, "")}
}

func (r *refusal) Error() string { return r.message }

// Status is that of the answer.
func (r *refusal) Status() int { return r.status }

// noRetry is the header line that keeps the official SDKs from sending a request again by themselves.
const noRetry = "x-should-retry: false\r\n"

// refusalOf returns the answer to a client whose request failed.
func refusalOf(err error) *refusal {
	var own *refusal
	if errors.As(err, &own) {
		return own
	}
	var f *wire.Failure
	switch {
	case !errors.As(err, &f) || f.Fault == event.Panic:
		return refuse(500, "internal", "epitome failed on this request: a bug in epitome; its log has the details")
	case f.Fault == event.Unreachable:
		return refuse(502, "upstream_unreachable",
			fmt.Sprintf("epitome cannot reach the upstream: %v; check its url and your network", f.Err))
	case f.Fault == event.Timeout:
		return refuse(504, "upstream_timeout",
			"the upstream did not begin to answer within first_byte_timeout: try again, or raise it")
	}
	return refuse(502, "upstream_broken", fmt.Sprintf("the upstream did not answer: %v; "+
		"it may have processed the request, so send it again only if that is safe", f.Err))
}

// body returns the refusal as clients of the common dialects read it: OpenAI's error object, with the type at the top
// level that Anthropic's clients look for.
func (r *refusal) body() []byte {
	b, _ := json.Marshal(map[string]any{ // strings cannot fail
		"type":  "error",
		"error": map[string]any{"message": r.message, "type": "epitome_error", "param": nil, "code": r.code},
	})
	return b
}
