// Package tongue lets agent and model of a demo speak Anthropic Messages or OpenAI Responses with each other, while
// each of them thinks in chat completions: it turns requests and answers into the other dialect at both ends of the
// wire.
//
// It promises that what is turned there and back is what it was, byte for byte, unless somebody between has changed it;
// that a request goes out as a client of that API writes it; and that one which breaks a rule of the API is refused in
// its words. It knows nothing of who stands between.
package tongue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Tongue is an API that agent and model speak. nil is Chat Completions, which both of them think in.
type Tongue interface {
	// Tools are declarations of chat completions as an agent hands them to its client.
	Tools(chat json.RawMessage) (json.RawMessage, error)

	path() string
	head() [][2]string // of a client's requests
	// fromChat turns a request of chat completions, with such tools, into one of the API, and toChat turns it back.
	fromChat(body []byte) ([]byte, error)
	toChat(body []byte) ([]byte, error)
	// spoken turns a list of messages into those of chat completions that say the same.
	spoken(list []json.RawMessage) ([]json.RawMessage, error)
	// judge says how a strict server refuses a request; nil if it takes it.
	judge(head http.Header, body []byte) (streamed bool, refused *refusal)
	// answer gives what a model has answered in chat completions, and hear puts together what came of it.
	answer(w http.ResponseWriter, said chatAnswer, streamed bool)
	hear(from io.Reader) (chatMessage, error)
	// words are how the API tells a refusal of the model.
	words(complaint string) *refusal
}

// Of is the tongue of a name.
func Of(dialect string) Tongue {
	switch dialect {
	case "messages":
		return inMessages{}
	case "responses":
		return inResponses{}
	}
	return nil
}

// refusal is how a request is refused.
type refusal struct {
	status int
	body   []byte
}

// A request of chat completions, as far as agents of a demo write it.
type (
	chatRequest struct {
		Model    string            `json:"model"`
		Stream   bool              `json:"stream"`
		Tools    json.RawMessage   `json:"tools,omitempty"`
		Messages []json.RawMessage `json:"messages"`
	}
	chatMessage struct {
		Role    string     `json:"role"`
		Content string     `json:"content"`
		Calls   []chatCall `json:"tool_calls,omitempty"`
		Answers string     `json:"tool_call_id,omitempty"`
	}
	chatCall struct {
		Index    int          `json:"index"`
		ID       string       `json:"id,omitempty"`
		Type     string       `json:"type,omitempty"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	}
)

// chatAnswer is an answer of chat completions, as far as models of a demo write it.
type chatAnswer struct {
	Choices []struct{ Message chatMessage }
	Usage   struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

// Translate turns those texts that are messages, with commas between them, into messages of chat completions.
func Translate(in Tongue, texts map[string]string) {
	for name, text := range texts {
		var list []json.RawMessage
		if json.Unmarshal([]byte("["+text+"]"), &list) != nil {
			continue
		}
		said, err := in.spoken(list)
		if err != nil {
			continue
		}
		lines := make([][]byte, len(said))
		for i, raw := range said {
			lines[i] = raw
		}
		texts[name] = string(bytes.Join(lines, []byte{'\n'}))
	}
}

// textOf joins texts as one.
func textOf(all []string) string { return strings.Join(all, "\n") }

// What is not as it should be.
var (
	errNoAnswer  = errors.New("the answer ended too early")
	errNoMessage = errors.New("this is no message")
)
