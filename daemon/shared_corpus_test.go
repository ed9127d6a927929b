package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/rewrite/rewritetest"
	"epitome/store/shared/sharedtest"
)

// TestReplicasAgreeOverRealConversations plays real conversations with a clock over one, two, four and eight
// replicas in turn, in each dialect: each request is sent as one process sends it that shares nothing, and the
// provider's cache is missed as often over any number of them. All are played where EPITOME_CORPUS names their folder,
// else a few.
func TestReplicasAgreeOverRealConversations(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	files, replicas := rewritetest.SomeConversations(t), []int{1, 2, 4, 8}
	all, folder := os.Getenv("EPITOME_CORPUS") != "", t.TempDir()
	misses := map[int]int{} // by the number of replicas
	for i, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for k, key := range keys() {
			for j, n := range replicas {
				if !all && (i%len(keys()) != k || i/len(keys())%len(replicas) != j) {
					continue
				}
				t.Run(fmt.Sprintf("%s %s over %d", filepath.Base(file), key, n), func(t *testing.T) {
					server.Flush()
					misses[n] += agree(t, server, newRecital(t, key, body), n, folder)
				})
			}
		}
	}
	t.Logf("misses of the provider's cache by the number of replicas: %v", misses)
	for _, n := range replicas {
		if all && misses[n] != misses[1] {
			t.Errorf("over %d replicas the provider's cache is missed %d times, over one %d times", n, misses[n], misses[1])
		}
	}
}

// agree plays the conversation over so many replicas and over one that is alone, and returns how often the provider's
// cache is missed. What is sent has names and paths of artifacts: with the same folder, plays are of the same length.
func agree(t *testing.T, server *sharedtest.Server, r *recital, n int, folder string) (breaks int) {
	t.Helper()
	data := filepath.Join(folder, "data")
	if err := errors.Join(os.RemoveAll(data), os.Mkdir(data, 0o700),
		os.WriteFile(filepath.Join(data, "secret"), bytes.Repeat([]byte{7}, 32), 0o600)); err != nil {
		t.Fatal(err)
	}
	one := alone(t, data, nil)
	var some []*replica
	for range n {
		some = append(some, sharing(t, server.URL(), data, nil))
	}
	now, before, turns := morning(), "", 0
	for ; r.goOn(); turns++ {
		if now = now.Add(20 * time.Second); turns%40 == 39 {
			now = now.Add(time.Hour)
			awaitStamps(t, server, some...)
		}
		want, got := one.sends(r.dialect, r.body(), now), some[turns%n].sends(r.dialect, r.body(), now)
		if got.Report.Err != nil || want.Report.Err != nil {
			t.Fatal(turns, got.Report.Err, want.Report.Err)
		}
		if !bytes.Equal(want.Body, got.Body) {
			t.Fatalf("turn %d: %d bytes are sent, one process sends %d", turns, len(got.Body), len(want.Body))
		}
		list := listIn(t, got.Body)
		if !strings.HasPrefix(list, before) {
			breaks++
		}
		before = list
	}
	t.Logf("%d turns, %d breaks", turns, breaks)
	return breaks
}

// listIn is the list of messages of a body, without its end.
func listIn(t *testing.T, body []byte) string {
	t.Helper()
	var b struct{ Messages, Input json.RawMessage }
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(b.Messages)+string(b.Input), "]")
}

// recital is a real conversation that is said again, in one dialect, message by message.
type recital struct {
	*talk
	rest  []recorded
	calls map[string]recordedCall
}

// recorded is a message of Chat Completions.
type recorded struct {
	Role    string
	Content any
	Calls   []struct {
		ID       string
		Function recordedCall
	} `json:"tool_calls"`
	Answers string `json:"tool_call_id"`
}

type recordedCall struct{ Name, Arguments string }

func newRecital(t *testing.T, key string, body []byte) *recital {
	t.Helper()
	var all struct{ Messages []recorded }
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	return &recital{talk: &talk{dialect: dialectWith(key)}, rest: all.Messages, calls: map[string]recordedCall{}}
}

// goOn says all up to the next request. It returns false at the end.
func (r *recital) goOn() bool {
	for len(r.rest) > 0 {
		m := r.rest[0]
		r.rest = r.rest[1:]
		text := r.textOf(m.Content)
		switch m.Role {
		case "assistant":
			if text != "" {
				r.say(text)
			}
			for _, c := range m.Calls {
				r.calls[c.ID] = c.Function
			}
			continue
		case "tool":
			c := r.calls[m.Answers]
			if !json.Valid([]byte(c.Arguments)) {
				c.Arguments = "{}"
			}
			r.call(m.Answers, c.Name, c.Arguments, text)
		default:
			r.user(text)
		}
		if len(r.rest) == 0 || r.rest[0].Role == "assistant" {
			return true
		}
	}
	return false
}

// textOf is a message's content as one text.
func (r *recital) textOf(content any) string {
	if text, ok := content.(string); ok || content == nil {
		return text
	}
	text, _ := json.Marshal(content)
	return string(text)
}
