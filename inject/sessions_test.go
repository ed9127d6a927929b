package inject

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
	"epitome/summarize/prose"
)

const quiet = 30 * time.Minute

// watched is a Sessions with the questions that were asked.
type watched struct {
	*Sessions
	mu    sync.Mutex
	busy  int // questions that are not taken yet
	asked []prose.Question
}

func watch(t *testing.T) *watched {
	t.Helper()
	w := &watched{}
	w.Sessions = WatchSessions(func(q prose.Question) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.busy--; w.busy >= 0 {
			return false
		}
		if q.Conversation == "bug" {
			panic("a bug")
		}
		w.asked = append(w.asked, q)
		return true
	}, slog.New(slog.DiscardHandler))
	w.Configure(quiet)
	t.Cleanup(func() { w.Configure(0) })
	return w
}

// sends watches a session in which user and model have spoken so often, as far as it is text.
func (w *watched) sends(conversation string, turns int) {
	body := sessionBody(turns)
	w.Watch(Session{Dialect: chat.Dialect{}, Body: body, Scope: "ada", Project: "app", Conversation: conversation})
	clear(body) // the caller's again
}

func sessionBody(turns int) []byte {
	var list []string
	for i := range turns {
		role := [...]string{"user", "assistant"}[i%2]
		list = append(list, fmt.Sprintf(`{"role":%q,"content":"turn %d"}`, role, i))
	}
	return []byte(`{"model":"gpt-5","messages":[` + strings.Join(list, ",") + `]}`)
}

// after returns the conversations that were asked about a while later.
func (w *watched) after(d time.Duration) string {
	time.Sleep(d)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, q := range w.asked {
		list = append(list, q.Conversation)
	}
	return strings.Join(list, " ")
}

func TestAQuietSessionIsAskedAboutOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		want := func(after time.Duration, want string) {
			t.Helper()
			if got := w.after(after); got != want {
				t.Errorf("asked about %q, want %q", got, want)
			}
		}
		w.sends("one", 4)
		want(20*time.Minute, "")
		w.sends("one", 6)
		want(time.Second, "")
		w.sends("two", 4)
		w.sends("short", minTurns-1)
		want(20*time.Minute, "")
		want(11*time.Minute, "one two")
		want(24*time.Hour, "one two")
		w.sends("one", 12)
		w.sends("two", 12)
		w.Drop(Session{Scope: "ada", Conversation: "two"})
		want(time.Hour, "one two one")
		w.sends("bug", 8)
		want(time.Hour, "one two one")
		w.busy = 3
		w.sends("later", 8)
		want(quiet+2*time.Minute+time.Second, "one two one")
		want(2*time.Minute, "one two one later")
	})
}

func TestSessionsFollowTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		w.sends("one", 8)
		w.Configure(time.Minute)
		if got := w.after(2 * time.Minute); got != "one" {
			t.Errorf("asked about %q", got)
		}
		w.sends("two", 8)
		w.Configure(0)
		w.sends("three", 8)
		w.Configure(quiet)
		if got := w.after(time.Hour); got != "one" {
			t.Errorf("asked about %q", got)
		}
	})
}

func TestHeldSessionsAreBounded(t *testing.T) {
	f := func(sessions, size, want int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			w := watch(t)
			for i := range sessions {
				time.Sleep(time.Second)
				for range 2 {
					body := append(sessionBody(8), strings.Repeat(" ", size)...)
					w.Watch(Session{Dialect: chat.Dialect{}, Body: body, Conversation: fmt.Sprint(i)})
				}
			}
			if got := strings.Fields(w.after(time.Hour)); len(got) != want || want > 0 && got[want-1] != fmt.Sprint(sessions-1) {
				t.Errorf("of %d sessions with %d bytes are asked about: %v", sessions, size, got)
			}
			if w.bytes != 0 {
				t.Errorf("%d bytes are held in the end", w.bytes)
			}
		})
	}
	f(maxSessions+20, 0, maxSessions)
	f(20, 5<<20, 6)
	f(3, 40<<20, 0)
}

func TestQuestionHasTheConversationInAllDialects(t *testing.T) {
	const want = "user: Mend it.|assistant: I look.|call bash: {\"command\":\"make\"}|result bash: exit code 2|user: Go on.|assistant: Done."
	f := func(d conversation.Dialect, body string) {
		t.Helper()
		s := Session{Dialect: d, Body: []byte(body), Scope: "ada", Project: "app", Conversation: "one"}
		q, ok := s.question()
		var said []string
		for _, e := range q.Transcript {
			if e.Kind != prose.System {
				said = append(said, strings.TrimSpace(string(e.Kind)+" "+e.Tool)+": "+e.Text)
			}
		}
		if got := strings.Join(said, "|"); got != want || !ok || q.Dialect != d.Name() || q.Scope != "ada" || q.Project != "app" {
			t.Errorf("the question has %s, want %s; it is worth asking: %t", got, want, ok)
		}
		longer := s
		longer.Body = []byte(strings.Replace(body, `"exit code 2"`, `"exit code 1"`, 1))
		other := s
		other.Project = "web"
		same, _ := longer.question()
		differs, _ := other.question()
		if same.Key != q.Key || differs.Key == q.Key {
			t.Error("equally long conversations have other questions, or projects the same")
		}
	}
	f(chat.Dialect{}, `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Mend it."},`+
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash",`+
		`"arguments":"{\"command\":\"make\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"exit code 2"},`+
		`{"role":"user","content":"Go on."},{"role":"assistant","content":"Done."}]}`)
	f(messages.Dialect{}, `{"model":"m","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":`+
		`"<system-reminder>The date.</system-reminder>Mend it."},{"role":"assistant","content":[{"type":"text","text":"I look."},`+
		`{"type":"tool_use","id":"c1","name":"bash","input":{"command":"make"}}]},{"role":"user","content":[{"type":"tool_result",`+
		`"tool_use_id":"c1","content":"exit code 2"}]},{"role":"user","content":"Go on."},{"role":"assistant","content":"Done."}]}`)
	f(responses.Dialect{}, `{"model":"m","instructions":"Be brief.","input":[{"role":"user","content":"Mend it."},`+
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call",`+
		`"call_id":"c1","name":"bash","arguments":"{\"command\":\"make\"}"},{"type":"function_call_output","call_id":"c1",`+
		`"output":"exit code 2"},{"role":"user","content":"Go on."},{"type":"message","role":"assistant",`+
		`"content":[{"type":"output_text","text":"Done."}]}]}`)
}
