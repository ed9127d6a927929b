package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"epitome/internal/fakeapi"
)

// A conversation whose reasoning is encrypted is compacted in time. Whether its reasoning is counted or not, it takes
// nothing from another conversation of the same model, which has none and fits its window.
func TestHiddenReasoningCostsOtherConversationsNothing(t *testing.T) {
	t.Parallel()
	const window = 60_000
	for _, key := range []string{"encrypted_content", "hidden_in_another_way"} {
		var a *agent
		var refused, sealed atomic.Int64 // refusals, and bytes of reasoning in an answer
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			tokens := len(body) / 4
			if tokens > window {
				refused.Add(1)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"Your input exceeds the context window of this model.",`+
					`"code":"context_length_exceeded"}}`)
				return
			}
			thought := ""
			if n := int(sealed.Load()); n > 0 {
				thought = fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[],%q:%q},`, a.turns, key,
					"gAAAA"+strings.Repeat("x", n))
			}
			_, _ = fmt.Fprintf(w, `{"id":"r","status":"completed","output":[%s{"type":"function_call","id":"fc_%d",`+
				`"call_id":%q,"name":"bash","arguments":%s}],"usage":{"input_tokens":%d,"output_tokens":90,`+
				`"output_tokens_details":{"reasoning_tokens":80},"total_tokens":%d}}`, thought, a.turns, a.callID(),
				quoted(fmt.Sprintf(`{"command":"go test ./shop/part%d"}`, a.turns)), tokens, tokens+90)
		}))
		t.Cleanup(server.Close)
		p := run(t, t.TempDir(), server.URL, windowOf(window))
		work := func(prompt string, bytes, turns int) map[string]int {
			sealed.Store(int64(bytes))
			a = working(p, "responses", "gpt-5")
			a.items, a.lines = []string{`{"role":"user","content":` + quoted(prompt) + `}`}, 1
			a.work(turns)
			return a.acted
		}
		thinking := work("Mend the shop.", 6000, 60)
		shallow := work("Paint the shed.", 0, 60)
		if shallow["none"] != 60 || key == "encrypted_content" && (refused.Load() > 0 || thinking["compact"] == 0) {
			t.Errorf("%s: %d requests are refused; with reasoning epitome did %v, without %v", key, refused.Load(),
				thinking, shallow)
		}
		tells := func() bool {
			return strings.Contains(p.read("/-/metrics"), `kind="reasoning",model="openai/gpt-5",upstream="up"} 9600`)
		}
		if !fakeapi.Eventually(tells) {
			t.Errorf("the metrics do not tell 9,600 tokens of reasoning:\n%.900s", p.read("/-/metrics"))
		}
	}
}
