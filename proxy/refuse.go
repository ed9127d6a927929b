package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"epitome/event"
	"epitome/proxy/wire"
)

// refusal is an answer of epitome's own: a request it will not take, or one that got no answer upstream.
type refusal struct {
	status  int
	code    string // for programs
	message string // one sentence that says what to do
	lines   string // further header lines, each with its CRLF
}

func (r *refusal) Error() string { return r.message }

// refusalOf says to the client why it gets no answer.
func refusalOf(err error) *refusal {
	var own *refusal
	if errors.As(err, &own) {
		return own
	}
	var f *wire.Failure
	if !errors.As(err, &f) || f.Fault == event.Panic {
		return &refusal{status: 500, code: "internal", message: "epitome failed on this request, which is a bug in it; its log has the details"}
	}
	switch {
	case errors.Is(err, wire.ErrBusy):
		return busy("all connections to the upstream are in use: try again, or raise upstream_connections")
	case f.Fault == event.Unreachable:
		return &refusal{status: 502, code: "upstream_unreachable",
			message: fmt.Sprintf("epitome cannot reach the upstream: %v; check its url and your network", f.Err)}
	case f.Fault == event.Timeout:
		return &refusal{status: 504, code: "upstream_timeout",
			message: "the upstream did not begin to answer within first_byte_timeout: try again, or raise it"}
	}
	return &refusal{status: 502, code: "upstream_broken",
		message: fmt.Sprintf("the upstream broke off before it answered: %v; it may have worked on the request, so try again only if that does no harm", f.Err)}
}

const looped = "this request came back to the epitome that sent it: " +
	"let the url of its upstream name the provider, and no epitome that sends to this one"
const noRoomLeft = "the requests under way fill max_in_flight: try again, or raise it"

// busy refuses a request for which there is no room now. The client may come again in a second.
func busy(message string) *refusal {
	return &refusal{status: 503, code: "busy", message: message, lines: "Retry-After: 1\r\n"}
}

// body is the refusal as clients of the common dialects read it: OpenAI's error object, with the type at the top
// level that Anthropic's clients look for.
func (r *refusal) body() []byte {
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	b, err := json.Marshal(struct {
		Type  string `json:"type"`
		Error object `json:"error"`
	}{"error", object{Message: r.message, Type: "epitome_error", Code: r.code}})
	if err != nil {
		panic("BUG: cannot encode a refusal: " + err.Error())
	}
	return b
}

// appendTo writes the whole answer.
func (r *refusal) appendTo(dst []byte, to wire.ClientSide, toHead bool) []byte {
	body := r.body()
	dst = append(dst, "HTTP/1.1 "+strconv.Itoa(r.status)+" "+http.StatusText(r.status)+"\r\n"...)
	dst = append(dst, "Content-Type: application/json\r\n"...)
	dst = wire.AppendField(dst, []byte("Content-Length"), strconv.Itoa(len(body)))
	dst = append(append(dst, r.lines...), to.Extra...)
	if to.Close {
		dst = append(dst, "Connection: close\r\n"...)
	}
	dst = append(dst, "\r\n"...)
	if toHead {
		return dst
	}
	return append(dst, body...)
}
