package load

import (
	"bytes"
	"encoding/json"
	"testing"

	"epitome/tokenize"
)

func TestChatBodyHasExactlyItsSizeAndIsAConversation(t *testing.T) {
	sizes := []int{2 << 10, 100 << 10, 800 << 10, 8 << 20}
	for size := 512; size < 6000; size += 37 {
		sizes = append(sizes, size)
	}
	for _, size := range sizes {
		body, err := ChatBody(size)
		if err != nil {
			t.Fatalf("chatBody(%d): %v", size, err)
		}
		if len(body) != size {
			t.Fatalf("chatBody(%d) has %d bytes", size, len(body))
		}
		checkConversation(t, body)
	}
}

// checkConversation wants every tool result right after the call it answers.
func checkConversation(t *testing.T, body []byte) {
	t.Helper()
	var request struct {
		Model    string
		Messages []struct {
			Role      string
			CallID    string                `json:"tool_call_id"`
			ToolCalls []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatalf("body of %d bytes is not JSON: %v", len(body), err)
	}
	if request.Model == "" || len(request.Messages) < 2 || request.Messages[1].Role != "user" {
		t.Fatalf("body of %d bytes is no conversation: %d messages", len(body), len(request.Messages))
	}
	for i, m := range request.Messages {
		if m.Role != "tool" {
			continue
		}
		call := request.Messages[i-1]
		if len(call.ToolCalls) != 1 || call.ToolCalls[0].ID != m.CallID {
			t.Fatalf("body of %d bytes: message %d answers no call", len(body), i)
		}
	}
}

func TestChatBodyIsTheSameEachTime(t *testing.T) {
	a, errA := ChatBody(100 << 10)
	b, errB := ChatBody(100 << 10)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("two bodies of one size differ (%v, %v)", errA, errB)
	}
}

func TestChatBodyRefusesTooSmallASize(t *testing.T) {
	_, err := ChatBody(511)
	if err == nil || err.Error() != "cannot make body of 511 bytes: want at least 512" {
		t.Errorf("chatBody(511): %v", err)
	}
}

func TestChatAnswerIsJSONOfAboutOneKB(t *testing.T) {
	answer := ChatAnswer(100 << 10)
	if !json.Valid(answer) || len(answer) < 1000 || len(answer) > 1100 {
		t.Errorf("answer of %d bytes, valid JSON: %v", len(answer), json.Valid(answer))
	}
}

// TestAnswersCountNoLessThanWasSent holds because a proxy may take a count that is too low for a provider that cuts
// requests.
func TestAnswersCountNoLessThanWasSent(t *testing.T) {
	var counters tokenize.Counters
	counter, err := counters.For(tokenize.O200k)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{2 << 10, 100 << 10, 800 << 10} {
		body, err := ChatBody(size)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			}
		}
		if err = json.Unmarshal(ChatAnswer(int64(size)), &answer); err != nil {
			t.Fatal(err)
		}
		if sent := counter.Count(body); answer.Usage.Prompt < sent*9/10 || answer.Usage.Prompt > sent*2 {
			t.Errorf("%d bytes have %d tokens as text, and the answer counts %d", size, sent, answer.Usage.Prompt)
		}
	}
}
