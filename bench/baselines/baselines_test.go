package baselines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/rewrite/chat"
)

// working returns a conversation in which the agent has read so many files, each of so many characters.
func working(files, chars int) []string {
	messages := []string{benchtest.Says("system", "s"), benchtest.Says("user", benchtest.Twenty)}
	for i := range files {
		id := fmt.Sprint(i)
		messages = append(messages, benchtest.Calls(id, "read", `{}`),
			benchtest.Answers(id, strings.Repeat("x", chars)))
	}
	return messages
}

// sent returns what a thread sends of a conversation: the contents of its messages.
func sent(t *testing.T, thread *thread, messages ...string) (contents []string, s policy.Shaped) {
	t.Helper()
	s, err := thread.Shape([]byte(benchtest.Chat(messages...)), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := chat.Dialect{}.Read(s.Body, nil)
	if err != nil {
		t.Fatal(err)
	}
	total := policy.Meter{}.Fixed(r)
	for i, it := range r.Items {
		total += policy.Meter{}.ReadItem(r, i).Tokens
		contents = append(contents, gjson.ParseBytes(it.Content.Of(s.Body)).String())
	}
	if total != thread.total {
		t.Errorf("the thread counts %d tokens and sends %d", thread.total, total)
	}
	return contents, s
}

func countOf(contents []string, text string) int {
	return len(slices.DeleteFunc(slices.Clone(contents), func(s string) bool { return s != text }))
}

func TestMaskingClearsTwentyAtATime(t *testing.T) {
	thread := newThread(setting(100_000), masking(0))
	f := func(files, want int, decided bool) {
		t.Helper()
		contents, s := sent(t, thread, working(files, 100)...)
		if n := countOf(contents, cleared); n != want || s.Decided != decided {
			t.Errorf("after %d results %d are cleared, decided %v", files, n, s.Decided)
		}
	}
	f(29, 0, false)
	f(30, 20, true)
	f(49, 20, false)
	f(50, 40, true)
}

func TestClearingKeepsThreeOverItsLine(t *testing.T) {
	thread := newThread(setting(100_000), clearing(300))
	f := func(files, want int, decided bool) {
		t.Helper()
		contents, s := sent(t, thread, working(files, 100)...)
		if n := countOf(contents, cleared); n != want || s.Decided != decided ||
			!strings.HasPrefix(contents[len(contents)-1], "xxx") {
			t.Errorf("after %d results %d are cleared, decided %v", files, n, s.Decided)
		}
	}
	f(5, 0, false) // 5 results take 260 tokens with their calls
	f(7, 4, true)
	f(8, 5, true)

	short := newThread(setting(100_000), clearing(1))
	if contents, s := sent(t, short, working(9, 20)...); countOf(contents, cleared) != 0 || s.Decided {
		t.Errorf("results shorter than what would stand for them are cleared: %q", contents)
	}
}

func TestWhatStandsForAResultHasTheSizeThatFiguresAreIn(t *testing.T) {
	for text, tokens := range map[string]int{cleared: 14,
		strings.Repeat("x", shrinkTo) + strings.Replace(shrunk, "NAME", nameOf(""), 1): 884} {
		if got := policy.TokensOf(policy.Size(text)) + policy.MessageTokens; got != tokens {
			t.Errorf("%.40q: %d tokens, want %d", text, got, tokens)
		}
	}
}

func TestOnlyWhatIsNewIsShrunk(t *testing.T) {
	long := strings.Repeat("é", shrinkOver-10) + strings.Repeat("y", 20)
	thread := newThread(setting(100_000), shrinkNew)
	first := append(working(2, shrinkOver), benchtest.Calls("a", "read", `{}`), benchtest.Answers("a", long))
	contents, s := sent(t, thread, first...)
	last := contents[len(contents)-1]
	name := nameOf(long)
	if s.Decided || len(contents[3]) != shrinkOver || policy.Size(last) >= shrinkOver ||
		!strings.HasSuffix(last, "yyyy") || !strings.Contains(last, name) {
		t.Fatalf("%q", contents)
	}
	if whole, known := thread.artifact(name); !known || string(whole) != long {
		t.Errorf("the artifact %s has %d bytes", name, len(whole))
	}
	again, s := sent(t, thread, append(first, benchtest.Says("assistant", "Well."), benchtest.Says("user", long))...)
	if s.Decided || again[7] != last || again[len(again)-1] != long {
		t.Errorf("%q", again)
	}
}

func TestUsersMessagesStayBesideTheSummary(t *testing.T) {
	thread := newThread(setting(4000), keepUsers)
	messages := append(working(2, 7000), benchtest.Says("user", benchtest.Third), benchtest.Says("assistant", "Well."),
		benchtest.Says("user", "Go on."))
	contents, s := sent(t, thread, messages[:4]...)
	if s.Decided || s.Asked != nil || len(contents) != 4 {
		t.Fatalf("%q", contents)
	}
	contents, s = sent(t, thread, messages[:6]...)
	if !s.Decided || len(contents) != 3 || !strings.HasPrefix(contents[2], "Summary, round 1.") {
		t.Fatalf("%q", contents)
	}
	const result, call = 1949, 19 // tokens; of what is written each costs five
	held, fresh := 1+5+10+call+result, call+result
	if want := []policy.Asking{{Held: held, New: fresh, Output: 1500}}; !slices.Equal(s.Asked, want) {
		t.Errorf("the summary is asked for with %+v, want %+v", s.Asked, want)
	}
	contents, s = sent(t, thread, messages...)
	if s.Decided || s.Asked != nil || !slices.Equal(contents[3:], []string{benchtest.Third, "Well.", "Go on."}) {
		t.Errorf("%q", contents)
	}
	contents, s = sent(t, thread, append(messages, benchtest.Calls("9", "read", `{}`),
		benchtest.Answers("9", strings.Repeat("z", 12_000)))...)
	if !s.Decided || !strings.HasPrefix(contents[2], "Summary, round 2.") ||
		!slices.Equal(contents[3:], []string{benchtest.Third, "Go on."}) {
		t.Errorf("%q", contents)
	}
}

func TestNewestUsersMessagesStayUpToABudget(t *testing.T) {
	thread := newThread(setting(60_000), keepUsers)
	long := strings.Repeat("word ", 12_000)
	contents, _ := sent(t, thread, benchtest.Says("user", "a"), benchtest.Says("assistant", "b"),
		benchtest.Says("user", "lost"), benchtest.Says("user", long+"1"), benchtest.Says("user", long+"2"),
		benchtest.Says("user", long+"3"), benchtest.Says("user", long+"4"))
	if len(contents) != 3 || contents[2] != long+"4" {
		t.Errorf("%d messages", len(contents))
	}
}

func TestSummaryHasItsSize(t *testing.T) {
	for _, unit := range []policy.Unit{{}, policy.Served()} {
		m, err := unit.Meter("gpt-5")
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Message(summaryText(m, 3)); got != summaryTokens {
			t.Errorf("%d tokens in %s, want %d", got, unit, summaryTokens)
		}
	}
}

func TestOldResultsAreClearedWhenATurnBegins(t *testing.T) {
	thread := newThread(setting(1_000_000), protectNewest)
	messages := append(working(7, 36_000), benchtest.Says("user", "second")) // 10 005 tokens each
	contents, s := sent(t, thread, messages...)
	if s.Decided || countOf(contents, cleared) != 0 {
		t.Fatalf("cleared in the turn that ends: %d", countOf(contents, cleared))
	}
	messages = append(messages, benchtest.Says("assistant", "Well."))
	if _, s = sent(t, thread, messages...); s.Decided {
		t.Error("cleared where no turn begins")
	}
	contents, s = sent(t, thread, append(messages, benchtest.Says("user", "third"))...)
	if !s.Decided || countOf(contents, cleared) != 4 || contents[3] != cleared || contents[11] == cleared {
		t.Errorf("%d are cleared", countOf(contents, cleared))
	}
}

func TestFullConversationsGetASummary(t *testing.T) {
	thread := newThread(setting(30_000), protectNewest)
	contents, s := sent(t, thread, working(6, 10_000)...)
	if len(contents) != 7 || !strings.HasPrefix(contents[2], "Summary, round 1.") {
		t.Errorf("%d messages, decided %v", len(contents), s.Decided)
	}
	contents, s = sent(t, thread, append(working(6, 10_000), benchtest.Says("assistant", "Well."))...)
	if s.Decided || !strings.HasPrefix(contents[2], "Summary, round 1.") {
		t.Errorf("%d messages, decided %v", len(contents), s.Decided)
	}
}

func TestPolicyThatCannotReadSaysSo(t *testing.T) {
	for _, p := range All(policy.Unit{})[1:] {
		s, err := p.Open(setting(1000))
		if err != nil {
			t.Fatal(err)
		}
		if shaped, err := s.Shape([]byte("{"), time.Time{}); err == nil || string(shaped.Body) != "{" {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestTruncationDropsTheOldestGroups(t *testing.T) {
	first := []string{benchtest.Says("system", "s"), benchtest.Says("user", benchtest.Twenty),
		benchtest.Calls("1", "list", `{}`), benchtest.Answers("1", strings.Repeat(benchtest.Twenty, 9)),
		benchtest.Says("developer", "d")}
	rest := []string{benchtest.Calls("2", "list", `{}`), benchtest.Answers("2", "ok")}
	s := newThread(setting(100), truncation(100))
	whole := benchtest.Chat(first...)
	if got, err := s.Shape([]byte(whole), time.Time{}); err != nil || got.Decided || string(got.Body) != whole {
		t.Errorf("%s, %v", got.Body, err)
	}
	got, err := s.Shape([]byte(benchtest.Chat(append(first, rest...)...)), time.Time{})
	want := benchtest.Chat(first[0], first[1], first[4], rest[0], rest[1])
	if err != nil || !got.Decided || string(got.Body) != want {
		t.Errorf("%s, %v, want %s", got.Body, err, want)
	}
	got, err = s.Shape([]byte(benchtest.Chat(append(append(first, rest...), benchtest.Says("user", "More."))...)),
		time.Time{})
	if err != nil || got.Decided || !strings.HasPrefix(string(got.Body), want[:len(want)-len(` ], "seed":1.50}`)]) {
		t.Errorf("%s, %v", got.Body, err)
	}
}

// setting is that of a chat in a window.
func setting(window int) policy.Setting {
	return policy.Setting{Window: window, Dialect: chat.Dialect{}}
}
