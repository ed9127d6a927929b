package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/journal"
)

// serve returns a console that shows s.
func (s *source) serve(t *testing.T) *Console {
	p := listening("127.0.0.1:7070")
	p.Book, p.Service = newBook(), s
	t.Cleanup(p.Book.Close)
	for _, e := range s.exchanges {
		p.Book.RecordExchange(new(e))
	}
	p.Settings = func() Settings { return Settings{Mode: event.ModeOn, List: func() []Setting { return s.settings }} }
	return New(p)
}

// get asks for a page, as the owner or as a visitor.
func get(o *Console, path string, owner bool) (status int, page string) {
	lines := []string{"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	if owner {
		lines = append(lines, proof)
	}
	w := ask(o, http.MethodGet, path, lines...)
	return w.Code, w.Body.String()
}

const (
	id         = "c7f3a1b2c3d4e5f60718"
	title      = "Fix the ledger test"
	folder     = "settlement"
	secretText = "the ledger output"
)

// session returns a conversation of ten turns with every kind of event.
func session() *source {
	at := time.Now().Add(-time.Hour)
	var all []event.Exchange
	for turn := 1; turn <= 10; turn++ {
		e := event.Exchange{Start: at, Method: "POST", Path: "/v1/chat/completions", Upstream: "openai",
			Client: "alice", Mode: event.ModeOn, Status: 200, Duration: time.Second, FirstByte: time.Second}
		e.Shaping = event.Shaping{Model: "gpt-5.2", Conversation: id, Window: 64_000, ShapeTime: 1,
			TokensBefore: event.Tokens{User: 41_000 * turn}, TokensAfter: event.Tokens{User: 4_000 * turn},
			Decision: "decision"}
		e.Usage = event.Usage{Source: event.UsageProvider, Input: 4_000 * turn, Read: 4_000 * (turn - 1), Output: 10}
		all = append(all, e)
	}
	all[0].Title, all[0].Kept = title, []string{"keep: " + secretText}
	all[0].Folder, all[0].Agent = "/home/me/"+folder, "claude-cli"
	all[2].Offloaded, all[2].Causes, all[2].ReadAgain = 1, event.Codes{event.CodeOverLimit}, 4
	all[4].Cleared, all[4].Broke, all[4].Usage.Read, all[4].Code = 7, true, 0, event.CodeNotDue
	all[6].Decided, all[6].Compacted, all[6].Causes = true, 60, event.Codes{event.CodeCompactAt}
	all[6].Compaction = event.Compaction{Kind: event.CompactionCompleted, Why: "no model answered"}
	all[7].Rescue = event.Rescue{Kind: "input", Stages: "clear, compact", Tries: 2, Rescued: true, TokensBefore: 70_000,
		TokensAfter: 40_000, WindowBefore: 128_000, WindowAfter: 64_000}
	all[8].Fault, all[8].Status, all[8].Err, all[8].ReadAgainTokens = event.Unreachable, 502, "no route to host", 9_200
	return &source{
		exchanges: all, parts: map[string]string{"artifacts": "full"},
		edits: map[string]event.Edits{"decision": {List: []event.Edit{
			{Item: 2, Last: 5, Rung: "compact", Reason: "the window was full", Before: 42_000, After: 900, New: true,
				Text: "summary of " + secretText, Artifact: "transcript1"},
			{Item: 6, Last: 6, Rung: "clear", Before: 3_000, After: 90, Text: "stub of the result", Artifact: "gone1"},
			{Item: 7, Last: 7, Rung: "offload", Text: "a note behind the message"},
		}}},
		contents: map[string]string{"transcript1": "user: fix it\n" + secretText + "\n" + strings.Repeat("more\n", 9)},
		settings: []Setting{{Key: "listen", Text: `"127.0.0.1:7070"`}, {Key: "mode", Text: `"observe"`, Changed: true},
			{Key: "console.token", Secret: true, Changed: true}},
	}
}

// all are the paths of all pages.
var all = []string{"/-/", "/-/conversations", "/-/conversations?filter=gpt&cursor=1", "/-/conversations/" + id,
	"/-/conversations/" + id + "?turn=5", "/-/conversations/" + id + "?turn=8",
	"/-/conversations/" + id + "?find=ledger&conversation=" + id, "/-/troubles", "/-/config"}

func TestPagesSay(t *testing.T) {
	o := session().serve(t)
	for path, wants := range map[string][]string{
		"/-/": {title, "410k → 40k", "2.25M → 220k", "10 requests, 2.25M",
			"<summary>By agent", "<bdi>claude-cli</bdi></th>", "1 conversation", "full"},
		"/-/conversations":                {title, "claude-cli", folder, "alice", "10 turns"},
		"/-/conversations?filter=LEDGER":  {title},
		"/-/conversations?filter=nothing": {"No conversation matches"},
		"/-/conversations/" + id: {title, "6.4 ×", "only what fits", "window 64k", "Turn 10", "messages 3–6",
			"<li><bdi>keep: " + secretText, "1 compaction. The agent read 4 things again, 9,200 tokens.",
			"10 turns, 410k → 40k tokens, passed the window at turn 2, $",
			" saved on 1 request that fit, read again 4 times.", "passes the window here", "had to compact or stop there"},
		"/-/conversations/" + id + "?turn=3": {"<b>Read again:</b> 4 things that had been taken out"},
		"/-/conversations/" + id + "?turn=7": {"Turn 7", "60 old messages", "no model answered", "42k tokens", ", 900 tokens",
			"summary of " + secretText, "/-/artifacts/transcript1", "a note behind"},
		"/-/conversations/" + id + "?turn=8": {"clear, compact", "64k, not 128k"},
		"/-/conversations/" + id + "?find=LEDGER&conversation=" + id: {"Turn 7, messages 3–6 (compact)",
			"<pre>2:" + secretText, "/-/artifacts/transcript1"},
		"/-/conversations/" + id + "?find=nowhere&conversation=" + id: {"Nothing that was taken out contains this text"},
		"/-/troubles": {"turn 9", "unreachable", "no route to host"},
		"/-/config":   {"listen", "observe", "secret"},
	} {
		status, page := get(o, path, true)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s (%d) does not say %q in %s", path, status, want, page)
			}
		}
	}
}

// Each says in a sentence that it is not there.
func TestPagesThatAreNotThere(t *testing.T) {
	o := session().serve(t)
	for path, want := range map[string]string{
		"/-/nowhere":                              "There is no page at this address.",
		"/-/conversations/none":                   "There is no such conversation, or it is no longer kept.",
		"/-/conversations/" + id + "?turn=11":     "This conversation has no turn &#34;11&#34;: its newest is turn 10.",
		"/-/conversations/" + id + "?turn=newest": "This conversation has no turn &#34;newest&#34;: its newest is turn 10.",
	} {
		status, page := get(o, path, true)
		if status != http.StatusNotFound || !strings.Contains(page, want) {
			t.Errorf("%s: %d, want %q in %s", path, status, want, page)
		}
		if strings.Contains(page, "store.keep") != strings.Contains(want, "no longer kept") {
			t.Errorf("%s speaks of what expires, or does not: %s", path, page)
		}
	}
	story, _ := o.program.Book.Conversation(id)
	story.Exchanges = story.Exchanges[5:]
	_, err := turnOf(story, httptest.NewRequest(http.MethodGet, "/?turn=3", nil))
	if o.told(err).status != http.StatusNotFound || err.Error() != "turn 3 of this conversation is no longer kept" {
		t.Errorf("of a turn that is no longer kept: %v", err)
	}
}

// Edits of one kind in sequence are one row with a count, and open to each of them.
func TestEqualRowsAreOne(t *testing.T) {
	s := session()
	var edits []event.Edit
	for i := range 22 {
		edits = append(edits, event.Edit{Item: 2*i + 2, Last: 2*i + 2, Rung: "clear", Before: 4_000, After: 100,
			Artifact: fmt.Sprint("result", i)})
	}
	edits = append(edits, event.Edit{Item: 50, Last: 50, Rung: "offload"},
		event.Edit{Item: 51, Last: 51, Rung: "clear"})
	s.edits["decision"] = event.Edits{List: edits}
	for i := range s.exchanges {
		s.exchanges[i].Items = 54
		s.exchanges[i].Offloaded = 1
	}
	s.exchanges[2].Causes = nil
	c := &conversation{Edits: s.edits["decision"], Turn: s.exchanges[9]}
	var got []string
	for _, r := range c.Runs() {
		got = append(got, fmt.Sprint(r.Messages(), " ", r.Rung, " ", len(r.Edits), " ", r.Before))
	}
	want := []string{"messages 3–45 clear 22 88000", "message 51 offload 1 0", "message 52 clear 1 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, page := get(s.serve(t), "/-/conversations/"+id, true)
	for _, want := range []string{"22 of the messages 3–45, 88k tokens", "/-/artifacts/result21"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q in %s", want, page)
		}
	}
}

func TestEmptyProgramSaysHowToStart(t *testing.T) {
	o := (&source{}).serve(t)
	if _, page := get(o, "/-/", true); !strings.Contains(page, "http://127.0.0.1:7070") {
		t.Error(page)
	}
	for _, path := range []string{"/-/conversations", "/-/troubles", "/-/config"} {
		if status, page := get(o, path, true); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, page)
		}
	}
}

// Titles, texts and names of artifacts are the owner's.
func TestVisitorsSeeNoText(t *testing.T) {
	o := session().serve(t)
	for _, path := range all {
		_, page := get(o, path, false)
		for _, text := range []string{title, folder, secretText, "summary of", "stub of", "/artifacts/transcript1", "gone1"} {
			if strings.Contains(page, text) {
				t.Errorf("%s tells a visitor %q", path, text)
			}
		}
	}
	_, page := get(o, "/-/conversations?filter=ledger", false)
	if !strings.Contains(page, "No conversation matches") {
		t.Error("a visitor can find out titles")
	}
	_, page = get(o, "/-/conversations/"+id, false)
	if !strings.Contains(page, "epitome open") || !strings.Contains(page, "410k") {
		t.Error("a visitor is not told how to log in, or sees no figures")
	}
}

// The owner has a conversation sent whole again or compacted, named by the beginning of its ID, or forgotten; nobody
// else has.
func TestRestoreCompactAndForgetAreTheOwners(t *testing.T) {
	src := session()
	other := src.exchanges[0]
	other.Conversation = id[:4] + "ffff"
	src.exchanges = append(src.exchanges, other)
	o := src.serve(t)
	path := func(beginning string) string { return "/-/api/conversations/" + beginning + "/restore" }
	if w := send(o, path(id[:5]), "", proof); w.Code != http.StatusOK || object(t, w)["edits"] != 3.0 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if _, page := get(o, "/-/conversations/"+id, true); !strings.Contains(page, `data-post="`+path(id)) {
		t.Error("the page has no button for it")
	}
	compact := "/-/api/conversations/" + id + "/compact"
	w := send(o, compact+"?to=8k&focus=a%26b", "", proof)
	if w.Code != http.StatusOK || object(t, w)["conversation"] != id {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	_, page := get(o, "/-/conversations/"+id, true)
	if !strings.Contains(page, `data-post="`+compact) || !strings.Contains(page, "next request will be compacted.") {
		t.Error("the page has no button to compact it, or does not tell that this is asked for")
	}
	forget := "/-/api/conversations/" + id + "/forget"
	w = send(o, forget, "", proof)
	if w.Code != http.StatusOK || object(t, w)["artifacts"] != 3.0 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if want := []string{"restored " + id, "asked " + id + " 8k a&b", "forgotten " + id}; !slices.Equal(src.done, want) {
		t.Errorf("got %q, want %q", src.done, want)
	}
	if _, page := get(o, "/-/conversations/"+id, true); !strings.Contains(page, `data-post="`+forget) {
		t.Error("the page has no button to forget it")
	}
	wantRefusal(t, send(o, path(id[:4]), "", proof), http.StatusBadRequest)
	wantRefusal(t, send(o, path("none"), "", proof), http.StatusNotFound)
	wantRefusal(t, send(o, path(other.Conversation), "", proof), http.StatusConflict) // nothing is left out
	src.done = nil
	for _, path := range []string{path(id), compact, forget} {
		wantRefusal(t, send(o, path, ""), http.StatusForbidden)
		wantRefusal(t, send(o, path, "", proof, "Origin: http://evil.example"), http.StatusForbidden)
		wantRefusal(t, send(o, path, "", proof, "Content-Type: text/plain"), http.StatusUnsupportedMediaType)
	}
	if len(src.done) > 0 {
		t.Errorf("a refused request has %q", src.done)
	}
}

// talk returns a conversation of so many turns as lists have it.
func talk(id, session string, turns int, tools bool) journal.Conversation {
	return journal.Conversation{ID: id, Agent: "claude-cli", Session: session, Turns: turns, Tools: tools}
}

// Requests for titles stand under the conversation of their session, and nothing else does.
func TestSideRequestsStandUnderTheirConversation(t *testing.T) {
	other := talk("other-agent", "s0", 1, false)
	other.Agent = "codex"
	fork := talk("fork", "s0", 1, false)
	fork.Parent = "main"
	list := folded([]journal.Conversation{
		talk("late", "s0", 1, false), talk("main", "s0", 9, true), talk("title", "s0", 1, false),
		other, fork,
		talk("question", "s0", 1, true), talk("longer", "s0", 2, false),
		talk("resumed", "s1", 3, true), talk("old-title", "s1", 1, false),
		talk("alone", "s2", 1, false), talk("nameless", "", 9, true), talk("script", "", 1, false),
	})
	var got []string
	for _, shown := range list {
		got = append(got, shown.ID)
		for _, side := range shown.Sides {
			got = append(got, "- "+side.ID)
		}
	}
	want := []string{"main", "- late", "- title", "other-agent", "fork", "question", "longer", "resumed", "- old-title",
		"alone", "nameless", "script"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestConversationsComePageByPage(t *testing.T) {
	var all source
	for i := range 250 {
		e := session().exchanges[0]
		e.Conversation, e.Model = fmt.Sprintf("c%03d", i), []string{"GPT-x", "claude"}[i%2]
		all.exchanges = append(all.exchanges, e)
	}
	o := all.serve(t)
	seen, cursor := map[string]bool{}, 0
	for range 2 {
		w := ask(o, http.MethodGet, fmt.Sprintf("/-/api/conversations?filter=gpt&cursor=%d", cursor))
		var page journal.Page[journal.Conversation]
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Total != 125 {
			t.Fatalf("%v, %d in all", err, page.Total)
		}
		for _, c := range page.Items {
			seen[c.ID] = true
		}
		cursor = page.Next
	}
	if len(seen) != 125 || cursor != 0 {
		t.Errorf("got %d, then %d", len(seen), cursor)
	}
}
