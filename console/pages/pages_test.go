package pages

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"epitome/console/story"
	"epitome/event"
)

var update = flag.Bool("update", false, "write the goldens in testdata")

// addresses are of all pages of a session.
var addresses = map[string]string{
	"overview":      "/-/",
	"conversations": "/-/conversations",
	"conversation":  "/-/conversations/c7f3a1b2c3d4e5f60718",
	"exchange":      "/-/exchanges/60",
	"edit":          "/-/exchanges/60/edits/2",
	"artifact":      "/-/artifacts/bbbb2222/view?seq=60",
	"config":        "/-/config",
	"memory":        "/-/memory",
	"troubles":      "/-/troubles",
}

func TestPagesLookAsTheyDid(t *testing.T) {
	for name, path := range addresses {
		status, text := get(t, session(), path, true)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
		text = regexp.MustCompile(`-[0-9a-f]{12}\.`).ReplaceAllString(text, "-HASH.")
		golden := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != text {
			t.Errorf("%s differs from %s (%v); -update writes it", path, golden, err)
		}
	}
}

// readerSees returns what a reader sees of a page, and wants each element closed in order and none that may run or lead
// elsewhere.
func readerSees(t *testing.T, page string) string {
	t.Helper()
	void := []string{"meta", "link", "input", "br"}
	known := strings.Fields("html head meta title link script body a header nav p main h1 h2 div dl dt dd table thead " +
		"tbody tr th td span b small code pre bdi data time meter ul li svg g rect line text path polyline polygon form label input button " +
		"defs circle use details summary strong mark del ins")
	var open []string
	var said strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("open are %q", open)
			}
			return regexp.MustCompile(`\s+`).ReplaceAllString(said.String(), " ")
		case html.StartTagToken:
			if !slices.Contains(known, token.Data) {
				t.Errorf("<%s> is not expected", token.Data)
			}
			checkAttributes(t, token)
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %q", token.Data, open)
			}
			open = open[:len(open)-1]
			if slices.Contains([]string{"td", "th", "dt", "dd"}, token.Data) {
				said.WriteString(" ")
			}
		case html.TextToken:
			said.WriteString(token.Data)
		case html.SelfClosingTagToken, html.CommentToken:
			t.Errorf("%s is not expected", token)
		}
	}
}

func checkAttributes(t *testing.T, e html.Token) {
	t.Helper()
	for _, a := range e.Attr {
		outside := slices.Contains([]string{"href", "src", "action", "formaction", "srcset", "poster", "cite"}, a.Key) &&
			!strings.HasPrefix(a.Val, "/-/") && !strings.HasPrefix(a.Val, "#")
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" || outside {
			t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
		}
	}
	if e.Data == "script" && !slices.ContainsFunc(e.Attr, func(a html.Attribute) bool { return a.Key == "src" }) {
		t.Error("a script stands in the page")
	}
}

// says asks for a page and wants texts in what a reader sees of it; those that begin with an exclamation mark must not
// be there.
func says(t *testing.T, m *madeUp, path string, owner bool, wants ...string) {
	t.Helper()
	_, page := get(t, m, path, owner)
	seen := readerSees(t, page)
	for _, want := range wants {
		if not, absent := strings.CutPrefix(want, "!"); absent && strings.Contains(page, not) {
			t.Errorf("%s says %q", path, not)
		} else if !absent && !strings.Contains(seen, want) {
			t.Errorf("%s does not say %q in %s", path, want, seen)
		}
	}
}

// What is counted is said where two numbers of one thing differ: a second compaction does not count what the first had
// made a summary of, and a decision takes out less than had come.
func TestNumbersThatDifferSayWhatTheyCount(t *testing.T) {
	m := session()
	s := &m.stories[0]
	says(t, m, addresses["conversation"], true, "(130 messages became 21)",
		"Came counts each message as the agent sent it. Of what a summary stands for, much had been shortened before")
	earlier := s.Compactions[0]
	earlier.Time = begun.Add(30 * time.Minute)
	s.Compactions = append([]event.Compaction{earlier}, s.Compactions...)
	says(t, m, addresses["conversation"], true, "(130 messages became 21, without those that a summary stood for already)")
	_, page := get(t, m, addresses["conversation"], true)
	if !strings.Contains(page, "what earlier ones had taken out is not in it") {
		t.Error("the column of what was taken out does not say what it counts")
	}
}

// A summary stands behind a message of which nothing is missing; its row and its page say the same.
func TestWhatIsPutBehindAMessageTakesNothingOut(t *testing.T) {
	m := session()
	for _, name := range []string{"decision-60", "decision-100"} {
		edits := m.edits[name]
		edits.List = append(slices.Clone(edits.List), story.Edit{Item: 1, Last: 1, Rung: "compact", Before: 34, After: 4_700,
			Text: "[epitome: a summary of what was said]\nThe ledger is mended."})
		m.edits[name] = edits
	}
	says(t, m, addresses["conversation"], true, "compact: the summary is put here 34 → 4.7k",
		"[epitome: a summary of what was said] all of it is sent, with this behind it")
	says(t, m, "/-/exchanges/60/edits/1", true, "What is sent behind it", "The ledger is mended.",
		"Nothing is missing: all of the message itself is sent, and this stands behind it.", "!cannot be shown", "!in its place")
}

func TestAStrangerFindsTheAnswers(t *testing.T) {
	talk := addresses["conversation"]
	says(t, session(), talk, true,
		"60 compact: old turns became a summary (130 messages became 21) 42k With 108,200 tokens it was over the line of 107,827", // which, and why
		"was sent with 108k tokens fewer than it came with",                                                                       // what is not seen
		"message 70", "13k → 2.2k", "over the limit of 8k", "read", // and where it lies
		"Saved", "$0.420",
		"the largest result has 6.1k tokens, below 8k; clearing frees 3.2k and pays from 5.8k", // why turn N did nothing
		"55 4k 93k the client changed an earlier message, from message 12 on",
		"51 4k 84k the pause before it was longer", "without epitome the conversation would have died", "100 all of them are kept")
	says(t, session(), "/-/", true, "Billed ≥ $1.82", "at list prices; 1 answer broke off or "+
		"lost the client, and may have cost more; and $0.031 for summaries, which is not in it", "21 % of $2.00",
		"by one estimate, of the 56 requests with a price that would have fitted",
		"summaries cost $0.031, which is taken off; what 2 of them cost is not known")
	says(t, session(), "/-/exchanges/29", true, "extra cost $0.031", "clear: 11 items")
	says(t, session(), "/-/exchanges/20", true, "saved unknown", "billed unknown", "!$0.00")
	says(t, session(), "/-/exchanges/91", true, "counted by epitome, as the answer does not tell", "of it cached unknown", " to $")
	says(t, session(), "/-/exchanges/95", true, "the upstream broke off before its answer began")
	says(t, session(), "/-/exchanges/66", true, "It was answered, and the agent saw no error", "is now known as 60k")
	says(t, session(), "/-/exchanges/90", true, "would be done: offload: 1 item")
	says(t, session(), "/-/exchanges/60/edits/70", true, "− ok epitome/pkg2 0.002s", "ok epitome/pkg1 0.001s", "− 1,194 more lines that stood there",
		"␛[31mgot 3, want 4", "+ [epitome: output of `make test`", "The first 2,000 lines are compared")
	says(t, session(), "/-/artifacts/aaaa1111/view?find=testledger", true, "1 line holds it", "1204 --- FAIL: TestLedger", "3,002 lines")
	says(t, session(), "/-/artifacts/aaaa1111/view?from=2990", true, "3002 ok epitome/pkg3000", "Earlier lines", "!Later lines")
	says(t, session(), "/-/", true, "3 by subscription, at list prices", "a new one 1",
		"No new result is over its limit, and clearing old ones does not pay yet. 80")
	says(t, session(), "/-/config", true, `"balanced"`, "config.toml:3", "built in", "a secret, not shown", "--mode")
}

// What was only observed is told as what would have been done: the model saw all, and nothing was kept.
func TestObservedTurnsAreToldAsWhatWouldHaveBeen(t *testing.T) {
	m := session()
	talk := addresses["conversation"]
	says(t, m, talk, true, "Some turns were only observed and sent as they came: 90.")
	s := &m.stories[0]
	for i := range s.Exchanges {
		s.Exchanges[i].Mode = event.ModeObserve
	}
	s.Tokens = s.Raw // as it was sent
	says(t, m, talk, true, "This conversation is only observed", "What the model would no longer see",
		"219k tokens of the newest request, which was sent as it came; epitome would have sent 110k",
		"The model sees all: the newest request was sent as it came", "mode observe keeps none", "219k, would be 110k",
		"would not be sent as they came", "What would have been done", "would be done: clear: 11 items would be 26k",
		"new results that would have been sent as excerpts",
		"!kept alive</span>", "!>read</a>", "!tokens fewer than it came with")
	says(t, m, "/-/exchanges/88", true, "This exchange was only observed", "as it would have been sent",
		"messages would have been sent in another form", "!It would have been refused", "!kept alive", "!>read</a>")
	says(t, m, "/-/exchanges/60/edits/72", true, "a short note would stand in its place", "mode observe keeps none", "!expired")
	m.edits = nil
	says(t, m, "/-/exchanges/88", true, "mode observe keeps no decisions", "!expired")
	says(t, m, talk, true, "mode observe keeps no decisions", "!expired")
	for i := range s.Exchanges {
		s.Exchanges[i].Cleared, s.Exchanges[i].Compacted, s.Exchanges[i].Rescue = 0, 0, event.Rescue{}
	}
	says(t, m, talk, true, "Nothing that had been sent would have been changed. New results would have been shortened when they came.")
}

// An answer that the client did not wait for is no success, and a summary has its price where it was put in.
func TestTurnsSayHowTheyEndedAndWhatASummaryCost(t *testing.T) {
	m := session()
	s := &m.stories[0]
	s.Exchanges[96].Fault, s.Exchanges[96].Status = event.ClientGone, 200
	s.Summaries = []event.Summary{{Time: begun.Add(58 * time.Minute), Own: event.Charge{Price: "p", Nano: 31_000_000}},
		{Time: begun.Add(70 * time.Minute), Own: event.Charge{Price: "p", Nano: 5_000_000}}}
	says(t, m, addresses["conversation"], true, "nothing new; the client left before it had the whole answer",
		"nothing new; answered 502: the upstream broke off", "the summary cost $0.031")
	says(t, m, "/-/exchanges/60", true, "the summary cost $0.031")
}

// Where a model's summary could not be used, the page says what stands in its place, and why; what was paid for was
// no summary then.
func TestAPageSaysThatCodeWroteASummaryAndWhy(t *testing.T) {
	m := session()
	s := &m.stories[0]
	s.Summaries = []event.Summary{{Time: begun.Add(58 * time.Minute), Own: event.Charge{Price: "p", Nano: 31_000_000}}}
	const code = "code wrote the summary"
	says(t, m, addresses["conversation"], true, "!"+code)
	for i := range s.Compactions {
		s.Compactions[i].Why = "a model gave no summary that could be used: it lacked the headings Goal."
	}
	want := code + ": a model gave no summary that could be used: it lacked the headings Goal; asking a model for it cost $0.031"
	says(t, m, addresses["conversation"], true, want, "!the summary cost")
	says(t, m, "/-/exchanges/60", true, want, "!the summary cost")
	s.Summaries = nil
	says(t, m, "/-/exchanges/60", true, code, "!asking a model")
}

// What failed can be found from the first page, of a conversation or of none.
func TestTheOverviewListsWhatWentWrong(t *testing.T) {
	m := session()
	says(t, m, "/-/", true, "!Went wrong")
	failed := m.stories[0].Exchanges[96]
	failed.Fault, failed.Status = event.Truncated, 200
	bypassed := event.Exchange{Seq: 977, Start: begun, Action: event.ActionBypass, Mode: event.ModeOn, Status: 200}
	m.wrong = append([]event.Exchange{bypassed, failed}, slices.Repeat([]event.Exchange{failed}, 20)...)
	says(t, m, "/-/", true, "Went wrong lately", "bypass: something failed inside epitome", "no model",
		"the upstream broke off within its answer")
	_, page := get(t, m, "/-/", true)
	if !strings.Contains(page, `href="/-/exchanges/977"`) || !strings.Contains(page, `href="/-/conversations/`+failed.Conversation+`"`) ||
		strings.Count(page, "broke off within its answer") != 7 {
		t.Errorf("what went wrong is listed so: %s", page[strings.Index(page, "Went wrong"):])
	}
	says(t, m, "/-/", true, "All 22")
	_, rest := get(t, m, "/-/troubles", true)
	if !strings.Contains(page, `href="/-/troubles"`) || strings.Count(rest, "broke off within its answer") != 21 {
		t.Errorf("the page of all is %s", rest)
	}
	// What scrolls is itself what the script renews: it leaves it where the reader has scrolled to.
	if !strings.Contains(rest, `aria-labelledby="wrong" tabindex="0" data-live id="rows"`) {
		t.Errorf("what scrolls is renewed with what is around it: %s", rest)
	}
	m.wrong = m.wrong[:8]
	says(t, m, "/-/", true, "!All 8")
	m.wrong = nil
	says(t, m, "/-/troubles", true, "Nothing went wrong in the exchanges that are kept.")
}

// A table that has not all says so, as else its numbers do not add up; and what has no name is no rest of it.
func TestATableOfGroupsSaysWhatIsNotInIt(t *testing.T) {
	m := session()
	says(t, m, "/-/", true, "!are listed")
	m.groups = []story.Row{{Key: "", Sums: m.summary.Total}}
	for i := range mostGroups + 2 {
		m.groups = append(m.groups, story.Row{Key: fmt.Sprintf("%016x", i), Sums: m.summary.Total})
	}
	says(t, m, "/-/", true, "The 12 with the most exchanges are listed, of 15.", "no model", "!others")
	says(t, m, "/-/?by=upstream", true, "no upstream")
	says(t, m, "/-/?by=conversation", true, "no conversation")
	_, page := get(t, m, "/-/?by=conversation", true)
	if !strings.Contains(page, `<a href="/-/conversations/0000000000000003">`) {
		t.Error("a conversation that is named leads nowhere")
	}
	_, page = get(t, m, "/-/?by=model", true)
	if strings.Contains(page, `<a href="/-/conversations/0000000000000003">`) {
		t.Error("a model leads to a conversation")
	}
}

// What no answer says of a cache is no miss of it.
func TestTheOverviewSaysThatAnswersSayNothingOfACache(t *testing.T) {
	m := session()
	u := &m.summary.Total.Usage
	*u = story.UsageSums{Told: 80, Input: 2_000_000, Read: 1_500_000, CacheInput: 2_000_000}
	says(t, m, "/-/", true, "Cached 75 % of", "had 1.50M Exchanges", "6.88M 75 % ≥ $1.82", "!not tell")
	u.CacheInput = 1_900_000
	says(t, m, "/-/", true, "Cached ≥ 75 % of", "had 1.50M or more: the answers to 100k of them do not tell", "6.88M ≥ 75 % ≥ $1.82")
	*u = story.UsageSums{Told: 80, Input: 2_000_000}
	says(t, m, "/-/", true, "Cached unknown no answer says", "6.88M unknown ≥ $1.82", "!0 % of")
}

// Where an answer does not tell its tokens, those of the request are counted here, and those of the answer are unknown.
func TestExchangeSaysThatItsOutputIsUnknown(t *testing.T) {
	says(t, session(), "/-/exchanges/91", true, "counted by epitome, as the answer does not tell", "of it cached unknown output unknown")
	says(t, session(), "/-/exchanges/90", true, "counted by the provider", "output 400", "!broke off")
	says(t, session(), "/-/exchanges/45", true, "counted by the provider; what the model wrote before the answer broke off, or "+
		"lost the client, is not told", "output ≥ 1", "billed ≥ $0.01")
}

// Of more conversations than the overview lists it says where the others are.
func TestTheOverviewLeadsToAllThatIsLive(t *testing.T) {
	m := session()
	m.summary.Live = 1
	says(t, m, "/-/", true, "1 conversation had an exchange in the last ten minutes.", "!The newest are listed")
	m.summary.Live = 22
	says(t, m, "/-/", true, "22 conversations had an exchange in the last ten minutes. The newest are listed; all conversations have a page.")
}

// A number that is estimated is not shown as one that was counted.
func TestExchangeSaysThatItsTokensAreEstimated(t *testing.T) {
	m := session()
	says(t, m, "/-/exchanges/60", true, "!estimated, by samples")
	for i := range m.stories[0].Exchanges {
		m.stories[0].Exchanges[i].Estimated = true
	}
	says(t, m, "/-/exchanges/60", true, "its tokens are estimated, by samples of it")
}

func TestExchangeTellsWhatEpitomeHasAdded(t *testing.T) {
	m := session()
	e := &m.stories[0].Exchanges[59]
	e.Added, e.Memory = 900, 300
	says(t, m, "/-/exchanges/60", true, "Of what was sent, 900 tokens are what epitome has added behind the system's text: the"+
		" project's memory, with 300 tokens.")
	e.Contexts = "notes.md"
	says(t, m, "/-/exchanges/60", true, "an index of context files (notes.md), and the project's memory, with 300 tokens.")
	e.Memory = 0
	says(t, m, "/-/exchanges/60", true, "an index of context files (notes.md).")
}

func TestEveryEmptyStateHasItsWords(t *testing.T) {
	m := &madeUp{mode: event.ModeOn}
	says(t, m, "/-/", true, "Nothing yet: no request has come", "http://127.0.0.1:7070", "!$0.00")
	says(t, m, "/-/conversations", true, "Nothing yet: no conversation")
	says(t, m, "/-/conversations?match=zzz", true, "No conversation fits")
	says(t, m, "/-/config", true, "cannot be shown")
	m.mode = event.ModeOff
	says(t, m, "/-/", true, "Mode is off")
	m.mode = event.ModeObserve
	says(t, m, "/-/", true, "Mode is observe")

	m = session()
	says(t, m, "/-/exchanges/3", true, "Nothing was changed: the request was sent as it came")
	m.edits = nil
	says(t, m, addresses["conversation"], true, "The list cannot be read: the decision has expired")
	says(t, m, "/-/exchanges/60", true, "The edits cannot be read: the decision has expired")
	says(t, session(), "/-/exchanges/60/edits/72", true, "cannot be shown: there is no such artifact, or it has expired", "[epitome: cleared]")
	says(t, m, "/-/exchanges/77777", true, "There is nothing under this address")
	says(t, m, "/-/exchanges/x", true, "There is nothing under this address")
	says(t, m, "/-/conversations/none", true, "There is nothing under this address")
	says(t, m, "/-/artifacts/none/view", true, "there is no such artifact, or it has expired")
	m.stories[0].Exchanges = nil
	says(t, m, addresses["conversation"], true, "No turn is kept any more", "There is no chart")
	m.fails = errors.New("the log is damaged")
	says(t, m, "/-/", true, "This cannot be read: the log is damaged")
}

// Names and contents are the owner's: nobody else is told one, on whatever page.
func TestStrangersAreToldNoNames(t *testing.T) {
	m := session()
	for _, path := range append([]string{"/-/exchanges/60/edits/70", "/-/exchanges/60/edits/2",
		"/-/artifacts/aaaa1111/view"}, slicesOf(addresses)...) {
		_, page := get(t, m, path, false)
		for _, secret := range []string{"lies in aaaa1111", "/artifacts/aaaa1111/view?seq", "TestLedger", "ledger fixed", "make test",
			"decision-60"} {
			if strings.Contains(page, secret) {
				t.Errorf("%s tells %q to a stranger", path, secret)
			}
		}
	}
	says(t, m, addresses["conversation"], false, "run epitome open", "tokens fewer", "log in")
	says(t, m, "/-/exchanges/60", false, "run epitome open")
	if status, _ := get(t, m, "/-/exchanges/60/edits/2", false); status != http.StatusForbidden {
		t.Error(status)
	}
}

func slicesOf(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

func TestNegativeSavingReadsExtraCost(t *testing.T) {
	m := session()
	m.stories[0].Sums.Money.Saved = -4_200_000
	m.summary.Total.Money.Saved = -4_200_000
	says(t, m, "/-/", true, "Extra cost $0.0042")
	says(t, m, addresses["conversation"], true, "Extra cost $0.0042")
	says(t, m, "/-/conversations", true, "extra cost $0.0042")
}

func TestListsAreSortedByLinks(t *testing.T) {
	f := func(path string, wants ...string) {
		t.Helper()
		_, page := get(t, session(), path, true)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
	}
	f("/-/conversations", `aria-sort="descending" class="text"><a href="/-/conversations?rising=1">last used`,
		`<a href="/-/conversations?sort=saved">saved`)
	f("/-/conversations?sort=saved&match=gpt", `aria-sort="descending"><a href="/-/conversations?match=gpt&amp;rising=1&amp;sort=saved">`)
	f("/-/conversations?sort=saved&rising=1", `aria-sort="ascending"><a href="/-/conversations?sort=saved">saved`)
}

// What a browser loads at first stays small, whatever has happened.
func TestPagesAreSmall(t *testing.T) {
	m := session()
	first := m.stories[0]
	var all []event.Exchange
	for i := range 10_000 {
		e := first.Exchanges[i%100]
		e.Seq, e.Turn, e.Start = uint64(i+1), i+1, begun.Add(time.Duration(i)*time.Minute)
		all = append(all, e)
	}
	long := first
	long.Exchanges, long.Turns = all, len(all)
	m.stories = []story.Story{long}
	for i := range 10_000 {
		one := story.Story{Conversation: first.Conversation}
		one.ID = fmt.Sprintf("%020d", i)
		m.stories = append(m.stories, one)
	}
	assets := 0
	for name, most := range map[string]int{"css": 15 << 10, "js": 30 << 10} {
		_, page := get(t, m, "/-/", true)
		address := regexp.MustCompile(`"(/-/assets/console-[0-9a-f]+\.` + name + `)"`).FindStringSubmatch(page)
		if address == nil {
			t.Fatalf("the page loads no %s", name)
		}
		status, content := get(t, m, address[1], true)
		if status != http.StatusOK || len(content) > most {
			t.Errorf("%s: %d, %d bytes, at most %d", address[1], status, len(content), most)
		}
		assets += len(content)
	}
	for path, loaded := range map[string]int{"/-/": assets, "/-/conversations": assets, addresses["conversation"]: 0} {
		_, page := get(t, m, path, true)
		if len(page)+loaded > 100<<10 {
			t.Errorf("%s has %d bytes with %d of assets, at most %d", path, len(page), loaded, 100<<10)
		}
	}
}

// Only the owner sees what sessions have learned; a page is led to where conversations are told of it.
func TestWhatSessionsLearnedIsTheOwnersToSee(t *testing.T) {
	m := session()
	says(t, m, "/-/memory", true, "/work/shop", "pitfall", "The tests need Redis.", "begins with abcdefgh.", "!are off")
	says(t, m, "/-/memory", false, "to the owner of this epitome alone", "!Redis", "!8080")
	says(t, m, "/-/", true, "Memory")
	m.memories = known{Off: true}
	says(t, m, "/-/memory", true, "Memories are off", "Nothing is known of any project")
	says(t, m, "/-/", true, `!"/-/memory"`)
}

func TestAnAddressWithNothingHasAPage(t *testing.T) {
	says(t, session(), "/-/nowhere", false, "Not found", "There is nothing under this address", "To the overview")
}
