package rules

import (
	"fmt"

	"epitome/internal/fakeapi"
)

// A Refusal is an error as the API words it.
type Refusal struct {
	Status  int    // of HTTP; an error event of a stream has none
	Type    string // invalid_request_error and its like
	Param   string // "" for null
	Code    string // "" for null
	Message string
	foreign string // the whole body, where another server words it; "" for the API's own shape
}

// Error returns status, code and message.
func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// Fields are what the refusal says of itself, with null for what it leaves open.
func (r *Refusal) Fields() map[string]any {
	return map[string]any{"message": r.Message, "type": r.Type, "param": orNull(r.Param), "code": orNull(r.Code)}
}

// orNull is text, or null for "".
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Body returns the JSON that stands for the refusal in an answer.
func (r *Refusal) Body() []byte {
	if r.foreign != "" {
		return []byte(r.foreign)
	}
	return fakeapi.Encode(map[string]any{"error": r.Fields()})
}

// Overloaded is the refusal of a server that has too much to do.
func Overloaded() *Refusal {
	return &Refusal{Status: 503, Type: "server_error", Code: "server_is_overloaded",
		Message: "Our servers are currently overloaded. Please try again later."}
}

// Flaw is the refusal of a request that breaks a rule, at a place of the body.
func Flaw(param, code, format string, args ...any) *Refusal {
	return &Refusal{Status: 400, Type: "invalid_request_error", Param: param, Code: code,
		Message: fmt.Sprintf(format, args...)}
}

// Unknown is the refusal of a name that the server has nothing for.
func Unknown(format string, args ...any) *Refusal {
	r := Flaw("input", "", format, args...)
	r.Status = 404
	return r
}

// Oversize refuses a body by its bytes.
func Oversize() *Refusal {
	return &Refusal{Status: 413, Type: "invalid_request_error", Message: "Maximum request size exceeded."}
}

// BadKey refuses who asks.
func BadKey() *Refusal {
	return &Refusal{Status: 401, Type: "invalid_request_error", Code: "invalid_api_key",
		Message: "Incorrect API key provided."}
}

// missing, wrongType, wrongValue and tooLong are what most rules say.
func missing(param string) *Refusal {
	return Flaw(param, "missing_required_parameter", "Missing required parameter: '%s'.", param)
}

func wrongType(param, want string, got []byte) *Refusal {
	return Flaw(param, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", param, want, kindOf(got))
}

func wrongValue(param, got, want string) *Refusal {
	return Flaw(param, "invalid_value", "Invalid value: '%s'. Supported values are: %s.", got, want)
}

func tooLong(param string, got, most int) *Refusal {
	return Flaw(param, "string_above_max_length",
		"Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
		param, most, got)
}

// kindOf is what the server calls a value.
func kindOf(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
