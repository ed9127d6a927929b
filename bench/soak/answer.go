package soak

import (
	"encoding/json"
	"fmt"
	"strings"
)

// answerOf returns an answer in a dialect, in the pieces in which the upstream sends it. It tells no usage.
func answerOf(dialect, text string, stream bool) (pieces []string) {
	if !stream {
		return []string{fmt.Sprintf(wholeIn(dialect), quoted(text))}
	}
	f := frameIn(dialect)
	pieces = append(pieces, f.begin, ": the upstream lives\n\n")
	for word := range strings.SplitAfterSeq(text, " ") {
		pieces = append(pieces, fmt.Sprintf(f.delta, quoted(word)))
	}
	return append(pieces, fmt.Sprintf(f.end, quoted(text)))
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic("BUG: a text that is no JSON: " + err.Error())
	}
	return string(raw)
}

// wholeIn is an answer that is not streamed.
func wholeIn(dialect string) string {
	switch dialect {
	case messages:
		return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%s}],` +
			`"stop_reason":"end_turn","stop_sequence":null}`
	case responses:
		return `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"message",` +
			`"id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],` +
			`"text":%s}]}]}`
	default:
		return `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,` +
			`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`
	}
}

// frame is what stands around the words of a stream, and around each of them.
type frame struct{ begin, delta, end string }

// frameIn is that of a dialect.
func frameIn(dialect string) frame {
	switch dialect {
	case messages:
		return frame{
			"event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message",` +
				`"role":"assistant","model":"m","content":[],"stop_reason":null}}` + "\n\n" +
				"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":` +
				`{"type":"text","text":""}}` + "\n\n",
			"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta",` +
				`"text":%s}}` + "\n\n",
			": %s\n\nevent: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}` + "\n\n" +
				"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n" +
				"event: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n",
		}
	case responses:
		return frame{
			"event: response.created\ndata: " + `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1",` +
				`"object":"response","status":"in_progress","model":"m","output":[]}}` + "\n\n",
			"event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","sequence_number":1,` +
				`"item_id":"msg_1","output_index":0,"content_index":0,"delta":%s}` + "\n\n",
			"event: response.completed\ndata: " + `{"type":"response.completed","sequence_number":2,"response":{"id":"resp_1",` +
				`"object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_1",` +
				`"status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%s}]}]}}` +
				"\n\n",
		}
	default:
		return frame{
			"data: " + `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"}}]}` + "\n\n",
			"data: " + `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":%s}}]}` + "\n\n",
			": %s\n\ndata: " + `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},` +
				`"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
		}
	}
}

// refusalIn says that a request is too long for a model: how many tokens it may have, and how many it has.
func refusalIn(dialect string) string {
	switch dialect {
	case messages:
		return `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %[2]d tokens > ` +
			`%[1]d maximum"}}`
	case responses:
		return `{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted ` +
			`in %d tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"input",` +
			`"code":"context_length_exceeded"}}`
	default:
		return `{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in ` +
			`%d tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages",` +
			`"code":"context_length_exceeded"}}`
	}
}

// Refusals that have nothing to do with the size, and what they are answered with.
const (
	limitedAnswer = `{"type":"error","error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Slow down."}}`
	failedAnswer  = `{"type":"error","error":{"type":"api_error","code":"server_error","message":"The server had an error."}}`
)
