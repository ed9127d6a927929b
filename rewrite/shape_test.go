package rewrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/rewritetest"
	"epitome/tokenize"
)

// follower plays a conversation and fails when a promise is broken.
type follower struct {
	*testing.T
	*bench
	suffix                string // of each body, behind the messages
	before                string // what was sent last, without the suffix
	turn, changes, breaks int
	unlooked              int // turns since all was looked at
}

// Looking at everything is slow: it is done where something has changed, and now and then.
const lookEvery = 7

func (f *follower) ask(body string, look bool) {
	f.Helper()
	f.heard(body, f.shape(body), look)
}

func (f *follower) heard(body string, out Output, look bool) {
	f.Helper()
	if out.Report.Err != nil {
		f.Fatalf("turn %d: %v", f.turn, out.Report.Err)
	}
	sent := strings.TrimSuffix(string(out.Body), f.suffix)
	if !strings.HasPrefix(sent, f.before) {
		f.breaks++
		if !out.Report.Broke {
			f.Fatalf("turn %d: messages that had been sent changed without a decision", f.turn)
		}
	}
	f.before = sent
	f.changes += len(out.Report.Changes)
	if f.unlooked++; look || f.unlooked == lookEvery || len(out.Report.Changes) > 0 {
		f.unlooked = 0
		f.look(body, out, look)
	}
	f.turn++
}

// look holds what one request can show, and that the same is sent if it is asked for again.
func (f *follower) look(body string, out Output, all bool) {
	f.Helper()
	if again := f.shape(body); string(again.Body) != string(out.Body) {
		f.Fatalf("turn %d: asked again, another body is sent", f.turn)
	}
	was, err := chat.Read([]byte(body))
	if err != nil {
		f.Fatal(err)
	}
	holdsFirstSight(f.T, was, out)
	if all {
		judged(f.T, f.bench, body, out)
	}
}

// Promises 2, 3, 5, 6 and 8 on real conversations: nothing invalid, nothing lost, no prefix that changes by itself,
// though the process is started again in the middle and the preset changes.
func TestRealConversationsKeepThePromises(t *testing.T) {
	for _, file := range rewritetest.SomeConversations(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			list := turns(t, body)
			memo := tokenize.NewMemo(1 << 16) // one for all windows: what a text counts does not depend on them
			for k, window := range []int{32_000, 64_000, 128_000, 200_000} {
				f := &follower{T: t, bench: newBench(window), suffix: suffixOf(t, body)}
				f.memo = memo
				f.restart()
				for i, turn := range list {
					switch i {
					case len(list) / 3:
						f.restart()
					case len(list) / 2:
						if err := f.limits.SetPreset([...]string{"balanced", "faithful", "cautious", "economy"}[k]); err != nil {
							t.Fatal(err)
						}
					}
					f.ask(turn, i == len(list)/3 || i == len(list)-1)
				}
				t.Logf("window %d: %d turns, %d changes, %d breaks", window, f.turn, f.changes, f.breaks)
			}
		})
	}
}

// suffixOf is what stands behind the messages.
func suffixOf(tb testing.TB, body []byte) string {
	tb.Helper()
	r, err := chat.Read(body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(body[r.Items[len(r.Items)-1].End:])
}
