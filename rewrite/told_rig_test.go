package rewrite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/mark"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// styled is an agent whose summaries are of one style, with the model that tells them.
func styled(window int, s prose.Style) (*agent, *narrator) {
	a, n := newTold(window)
	a.style = s
	return a, n
}

// does adds a group of one call with its result.
func (a *agent) does(tool, arguments, result string) {
	a.calls++
	id := fmt.Sprint("call_", a.calls)
	a.items = append(a.items,
		fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"%s","type":"function","function":{"name":"%s","arguments":%s}}]}`, id, tool, span.AppendQuoted(nil, arguments)),
		fmt.Sprintf(`{"role":"tool","tool_call_id":"%s","content":%s}`, id, span.AppendQuoted(nil, result)))
}

// answers ends a turn and begins another one.
func (a *agent) answers(said, then string) {
	a.items = append(a.items, chatMessage(conversation.Assistant, said), userSays(then))
}

// mixed is work of all kinds, number k of it: a file read and one written, a command that fails, two other tools.
func (a *agent) mixed(k, tokens int) {
	a.does("Read", fmt.Sprintf(`{"file_path":"src/read_%d.go"}`, k), a.output(tokens))
	a.does("write_file", fmt.Sprintf(`{"path":"src/written_%d.go","content":"package written"}`, k), "ok")
	a.does("bash", fmt.Sprintf(`{"command":"make part_%d"}`, k), a.output(tokens)+"exit code: 1")
	a.does("lookup", fmt.Sprintf(`{"question":"which thing_%d"}`, k), a.output(tokens))
}

// summaryIn is the one summary in what is sent, and the kinds of its parts, in their order.
func summaryIn(t testing.TB, out Output) (text string, parts []string) {
	t.Helper()
	r, err := chat.Read(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Items {
		if r.Items[i].Role != conversation.User {
			continue
		}
		for _, s := range textsOf(r, &r.Items[i]) {
			if _, found, ok := strings.Cut(s, plan.Mark+"summary "); ok {
				text = found
			}
		}
	}
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, "== "+text[:8]+": "); ok {
			kind, _, _ := strings.Cut(rest, " ")
			parts = append(parts, strings.TrimSuffix(kind, ","))
		}
	}
	return text, parts
}

// partOf is a part of a summary, without its heading.
func partOf(summary, kind string) string {
	_, rest, _ := strings.Cut(summary, "\n== "+summary[:8]+": "+kind)
	_, rest, _ = strings.Cut(rest, "\n")
	rest, _, _ = strings.Cut(rest, "\n== "+summary[:8]+": ")
	rest, _, _ = strings.Cut(rest, "\n[end of summary "+summary[:8])
	return rest
}

// sameAs is the artifact that the first line of a transcript names: the same as JSON.
func sameAs(t testing.TB, b *bench, transcript string) string {
	t.Helper()
	content, err := b.cupboard.Get(transcript)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	names := slices.Collect(mark.NamesLike(first))
	if len(names) != 1 {
		t.Fatalf("transcript %s begins with %q", transcript, first)
	}
	return names[0]
}

// send sends what there is, and holds the promises where something was compacted.
func (a *agent) send(t testing.TB) Output {
	t.Helper()
	out := a.shape(a.body())
	if out.Report.Err != nil {
		t.Fatal(out.Report.Err)
	}
	holdsReasons(t, out)
	if compacts(out) {
		judged(t, a.bench, a.body(), out)
	}
	return out
}

// grow works until the request is compacted, and returns what was sent then and before.
func (a *agent) grow(t testing.TB, tokens int) (out, before Output) {
	t.Helper()
	for range 300 {
		before = out
		a.work(1, tokens)
		if out = a.send(t); compacts(out) {
			return out, before
		}
	}
	t.Fatal("nothing was ever compacted")
	return out, before
}

// hasParts holds that the parts are those, and no others.
func hasParts(t testing.TB, out Output, want ...string) string {
	t.Helper()
	text, parts := summaryIn(t, out)
	if !slices.Equal(parts, want) {
		t.Errorf("the summary has the parts %q, not %q: %.2000s", parts, want, text)
	}
	if !json.Valid(out.Body) {
		t.Error("the body is no JSON")
	}
	return text
}

// interrupted is a ledger by which something else happens before the first fact of a kind is written.
type interrupted struct {
	*notes
	kind      byte
	meanwhile func()
}

func (l *interrupted) Add(key string, value []byte) ([]byte, uint64, error) {
	if f := l.meanwhile; key[0] == l.kind && f != nil {
		l.meanwhile = nil
		f()
	}
	return l.notes.Add(key, value)
}
