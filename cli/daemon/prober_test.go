package daemon

import (
	"net/http"
	"strings"
	"testing"

	"epitome/internal/fakeapi/scriptedtest"
	"epitome/rewrite"
)

// talks takes any number of conversations.
const talks = "-- POST /v1/chat/completions --\nrepeat\nstatus 200 OK\nbody hello\n"

// converse sends a conversation, and returns by which window it was shaped; 0 if it was not shaped.
func (r *asking) converse(lines ...string) (believed int) {
	r.t.Helper()
	r.shape = func(a rewrite.Input) rewrite.Output {
		s := r.live.Shape(a)
		believed = s.Report.Window
		return s
	}
	req, err := http.NewRequest(http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(clientsBody))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", clientsKey)
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		req.Header.Set(name, value)
	}
	resp, err := scriptedtest.Direct().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return believed
}

func TestServersAreAskedWithoutTheClientsKey(t *testing.T) {
	r := askingWith(t, t.TempDir(), asDefault, "-- GET /v1/models --\nexpect-no-header Authorization\n"+
		"expect-header User-Agent: epitome\nstatus 200 OK\n"+`body {"data":[{"id":"m","max_model_len":24576}]}`+"\n"+talks)
	if got := r.converse(); got != 128_000 {
		t.Errorf("before it was asked, the model was believed to hold %d", got)
	}
	if !scriptedtest.Eventually(func() bool { return r.converse() == 24_576 }) {
		t.Errorf("what the server says does not count:\n%s", r.log)
	}
	r.end()
	if strings.Contains(r.log.String(), "sk-client") {
		t.Errorf("logged: %s", r.log)
	}
}
