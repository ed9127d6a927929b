package soak

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"epitome/bench/lineup"
)

// through plays turns of three conversations, one in each dialect, with a handler in the place of epitome, and returns
// what was broken.
func through(t *testing.T, turns int, between func(upstream string) http.Handler) (*soak, []string) {
	t.Helper()
	s := &soak{Options: Options{Seed: 1}, notes: &record{progress: io.Discard}, told: newTold(), client: newClient(),
		crew: crew{child: &child{lane: &lineup.Lane{}, folder: t.TempDir()}}, patience: time.Millisecond}
	var err error
	if s.provider, err = startProvider(s.notes); err != nil {
		t.Fatal(err)
	}
	defer s.provider.close()
	server := httptest.NewServer(between(s.provider.url))
	defer server.Close()
	s.child.addr = strings.TrimPrefix(server.URL, "http://")
	for number := range 3 {
		talk := newTalk(number, s.Seed)
		for range turns {
			a, err := newAttempt(talk, mostTries) // too late for anything to go wrong
			if err != nil {
				t.Fatal(err)
			}
			s.attempt(context.Background(), a)
			talk.hear(a.words())
		}
	}
	return s, s.notes.broken
}

// twist is a proxy that may change each request and each answer.
type twist struct {
	request func(body []byte) []byte
	answer  func(body []byte) []byte
	times   int // that each request is sent
	action  string
}

func (w twist) handler(upstream string) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		if w.request != nil {
			body = w.request(body)
		}
		var answer []byte
		for range max(1, w.times) {
			r, _ := http.NewRequest(http.MethodPost, upstream+in.URL.Path, bytes.NewReader(body))
			r.Header = in.Header.Clone()
			got, err := http.DefaultClient.Do(r)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			answer, _ = io.ReadAll(got.Body)
			_ = got.Body.Close()
		}
		if w.answer != nil {
			answer = w.answer(answer)
		}
		out.Header().Set("x-epitome-action", w.action)
		_, _ = out.Write(answer)
	})
}

func TestWhatNobodyChangesBreaksNothing(t *testing.T) {
	s, broken := through(t, 12, twist{action: "none"}.handler)
	if len(broken) > 0 {
		t.Errorf("broken: %q", broken)
	}
	if n := s.notes.counts["requests at the upstream: the client's own bytes"]; n != 36 {
		t.Errorf("%d requests came as they were sent, want 36: %v", n, s.notes.counts)
	}
}

func TestWhateverIsBrokenIsTold(t *testing.T) {
	f := func(want string, w twist) {
		t.Helper()
		w.action = "none"
		_, broken := through(t, 6, w.handler)
		for _, number := range []string{"0", "1", "2"} { // each of the dialects
			if !slices.ContainsFunc(broken, func(b string) bool {
				return strings.Contains(b, want) && strings.Contains(b, "attempt "+number+"-")
			}) {
				t.Errorf("conversation %s: nothing tells of %q: %q", number, want, broken)
			}
		}
	}
	change := func(old, by string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(by)) }
	}
	f("nothing is sent twice", twist{times: 2})
	f("the client has another answer", twist{answer: change("loft", "barn")})
	f("are missing, and it came out complete", twist{answer: func(b []byte) []byte { return b[:len(b)-1] }})
	f("is another conversation's", twist{answer: change("The sacks", "The soak77_1 sacks")})
	f("is another conversation's", twist{request: change("Weigh the sacks", "Weigh soak77_1")})
	f("neither stands in the request nor in any", twist{request: change(" grams", " ounces")})
	f("outside the conversation", twist{request: change(`"model":"`, `"model":"x`)})
	f("a server of", twist{request: otherCalls})
	n := 0
	f("is sent in another form", twist{request: func(b []byte) []byte {
		n++
		return change("Keep ", strconv.Itoa(n))(b)
	}})
}

// otherCalls has results answer calls that nobody made.
func otherCalls(body []byte) []byte {
	for _, key := range []string{`"tool_call_id":`, `"tool_use_id":`, `"function_call_output","call_id":`} {
		body = bytes.ReplaceAll(body, []byte(key+`"call_`), []byte(key+`"call_x`))
	}
	return body
}

// What epitome had to tell of the moment before it was killed may be lost; what it did tell is not, nor what it had to
// tell before it left by itself.
func TestOnlyAKillExcusesWhatNobodyTells(t *testing.T) {
	f := func(want int, kills int, event string) {
		t.Helper()
		s := &soak{notes: &record{progress: io.Discard}, told: newTold(),
			crew: crew{child: &child{folder: t.TempDir(), starts: 1, kills: kills}}}
		s.told.take(event)
		a := &attempt{id: "3-4-1", host: host{child: s.child}, talk: newTalk(0, 1), action: "compact"}
		a.talk.before, a.talk.sentBy = itemsOf([]byte(`{"messages":[1,2]}`)), "3-3-1"
		a.arrivals = []*arrival{{body: []byte(`{"messages":[1,3]}`)}}
		if got := s.checkPrefix(a, 0); len(got) != want {
			t.Errorf("%d kills, %s: %q", kills, event, got)
		}
	}
	f(1, 0, "")
	f(0, 1, "")
	f(0, 0, `{"path":"/3-4-1/v1/messages","broke":true}`)
	f(1, 1, `{"path":"/3-4-1/v1/messages","action":"compact"}`)
	f(1, 1, `{"path":"/3-4-1/v1/messages","action":"none","code":"failed"}`)
	f(1, 0, `{"path":"/3-3-1/v1/messages","action":"none"}`)
	f(0, 0, `{"path":"/3-3-1/v1/messages","action":"none","code":"failed"}`)
}

// Behind requests of which nobody knows whether anything was recorded, what was recorded before goes on, or what one of
// them has sent: the store may have taken that later.
func TestOnlyWhatIsNewIsDecidedAgain(t *testing.T) {
	const loose = "unrecorded"
	f := func(want int, requests ...string) { // what was sent, and the code behind it
		t.Helper()
		s := &soak{notes: &record{progress: io.Discard}, told: newTold(),
			crew: crew{child: &child{folder: t.TempDir(), starts: 1}}}
		k := newTalk(0, 1)
		for i, request := range requests {
			sent, code, _ := strings.Cut(request, " ")
			id := fmt.Sprintf("3-%d-1", i+2)
			a := &attempt{id: id, host: host{child: s.child}, talk: k, action: "none",
				arrivals: []*arrival{{body: []byte(`{"messages":` + sent + `}`)}}}
			if got := s.checkPrefix(a, 0); i == len(requests)-1 && len(got) != want {
				t.Errorf("%q: %q", requests, got)
			}
			s.told.take(`{"path":"/` + id + `/v1/messages","action":"none","code":"` + code + `"}`)
			remember(s, a)
		}
	}
	f(0, `[1,2]`, `[1,2,3] `+loose, `[1,2,3,4]`)
	f(0, `[1,2]`, `[1,2,3] `+loose, `[1,2,9,4]`)
	f(1, `[1,2]`, `[1,2,3] `+loose, `[1,9,3,4]`)
	f(0, `[1,2]`, `[7,3] `+loose, `[8,3] `+loose, `[7,3,4]`)
	f(0, `[1,2]`, `[7,3] `+loose, `[8,3] `+loose, `[1,2,3,4]`)
	f(1, `[1,2]`, `[7,3] `+loose, `[8,3] `+loose, `[9,3,4]`)
	f(1, `[1,2]`, `[7,3] `+loose, `[7,3,4]`, `[1,2,3,4]`)
	f(1, `[1,2]`, `[7,3] `+loose, `[1,2,3]`, `[1,2,3,4] `+loose, `[7,3,4]`)
}

func TestAnswersAreHeldAgainstWhatWasSent(t *testing.T) {
	f := func(want string, a *attempt, arrivals ...*arrival) {
		t.Helper()
		a.id, a.arrivals = "1-1-1", arrivals
		got := strings.Join(append(checkAnswer(a), checkOnce(a)...), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	whole := func(status int, said string) *arrival {
		return &arrival{status: status, said: []byte(said), whole: true}
	}
	half := &arrival{status: 200, said: []byte("ha")}
	gone := io.ErrUnexpectedEOF
	f("", &attempt{status: 200, seen: []byte("ok")}, whole(200, "ok"))
	f("", &attempt{status: 200, seen: []byte("ok")}, whole(400, "long"), whole(200, "ok"))
	f("", &attempt{status: 200, seen: []byte("ha"), fault: gone}, half)
	f("", &attempt{fault: gone, host: host{disturbed: true}})
	f("", &attempt{fault: gone, left: true})
	f("nothing reached the upstream", &attempt{status: 200, seen: []byte("ok")})
	f("nothing reached the upstream", &attempt{fault: gone})
	f("status 429 became 500", &attempt{status: 500, seen: []byte("no")}, whole(429, "no"))
	f("that was cut came out complete", &attempt{status: 200, seen: []byte("ha")}, half)
	f("did not arrive", &attempt{status: 200, seen: []byte("o"), fault: gone}, whole(200, "ok"))
	f("never said", &attempt{status: 200, seen: []byte("x"), fault: gone, left: true}, whole(200, "ok"))
	f("sent again after status 429", &attempt{status: 200, seen: []byte("ok")}, whole(429, "no"), whole(200, "ok"))
}

func TestOriginalsAreMadeAgainFromArtifacts(t *testing.T) {
	const first, second = "abcdefghijklmnopqrstuvwxyz", "bbcdefghijklmnopqrstuvwxyz"
	f := func(lost int, body string, shelf map[string]string) {
		t.Helper()
		a := &attempt{talk: newTalk(0, 1), body: []byte("as it came")}
		a.talk.texts = []string{"one\nline", "two"}
		got := checkForm(a, []byte(body), func(name string) string { return shelf[name] })
		if len(got) != lost {
			t.Errorf("%s: %q, want %d lost", body, got, lost)
		}
	}
	names := `{"messages":["two","see /data/artifacts/` + first + `.txt"]}`
	f(0, "as it came", nil)
	f(0, `{"messages":["two","one\nline"]}`, nil)
	f(1, `{"messages":["two"]}`, map[string]string{first: "one\nline"}) // nothing names it
	f(1, names, nil)
	f(1, names, map[string]string{first: "one\nlin"})
	f(0, names, map[string]string{first: "one\nline"})
	f(0, names, map[string]string{first: `"one\nline"`})
	f(0, names, map[string]string{first: "artifacts/" + second + ".txt", second: "one\nline"})
}

func TestWhatIsToldIsHeard(t *testing.T) {
	f := func(want bool, event string) {
		t.Helper()
		heard := newTold()
		go heard.take(event)
		if got := heard.broke("3-4-1", time.Minute); got != want {
			t.Errorf("%s: %t", event, got)
		}
	}
	f(true, `{"path":"/3-4-1/v1/messages","broke":true}`)
	f(true, `{"path":"/3-4-1/v1/messages","rescue":{"tries":1}}`)
	f(true, `{"path":"/3-4-1/v1/messages","action":"bypass"}`)
	f(false, `{"path":"/3-4-1/v1/messages","action":"compact"}`)
	if newTold().broke("3-4-1", 0) {
		t.Error("what nobody tells is told")
	}
	for event, want := range map[string]bool{`"broke":true`: true, `"decided":true`: false} {
		folder, read := t.TempDir(), newTold()
		line := `{"exchange":{"path":"/3-4-1/v1/messages",` + event + "}}\n"
		if err := os.WriteFile(filepath.Join(folder, "2026-11-20.jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		if read.readFiles(folder, "3-4-1"); read.broke("3-4-1", 0) != want {
			t.Errorf("of what is written down, %s is read as %t", event, !want)
		}
	}
}

func TestWhatGrowsIsTold(t *testing.T) {
	f := func(want string, n int, at func(i int) float64) {
		t.Helper()
		all := []sample{{start: 0, values: map[string]float64{"goroutines": 9000}}} // of a process that ended soon
		for i := range n {
			all = append(all, sample{start: 1, values: map[string]float64{"goroutines": at(i)}})
		}
		table, broken := settleFigures(all)
		for _, row := range table {
			if row.Name == "goroutines" && row.Verdict != want || row.Name == "store" && row.Verdict != "not measured" {
				t.Errorf("%+v, want %s", row, want)
			}
		}
		if (len(broken) == 1) != (want == "GROWS") {
			t.Errorf("%s: broken %q", want, broken)
		}
	}
	f("flat", 400, func(int) float64 { return 40 })
	f("flat", 400, func(i int) float64 { return float64(40 + i%7) })
	f("GROWS", 400, func(i int) float64 { return float64(40 + i) })
	f("too short to judge", 100, func(i int) float64 { return float64(40 + i) })
}

func TestEveryTurmoilComesInTheShortestRun(t *testing.T) {
	shortest := len(firstRounds) + len(lastRounds)
	played := map[string]bool{}
	for i := range shortest {
		played[roundAt(i, shortest).name] = true
	}
	for _, r := range []*turmoil{&calm, &reload, &restart, &killed, &full, &used} {
		if !played[r.name] {
			t.Errorf("a short run has no round in which this happens: %s", r.name)
		}
	}
	for i := len(firstRounds); i < 100-len(lastRounds); i++ {
		if name := roundAt(i, 100).name; name == killed.name || name == restart.name || name == used.name {
			t.Errorf("round %d of 100 ends the process: %s", i, name)
		}
	}
}

func TestRungsThatNobodyReachedAreTold(t *testing.T) {
	counts := map[string]int{}
	for _, rung := range []string{"none", "offload", "clear", "compact", "rescue"} {
		if got := unplayed(counts); !strings.Contains(fmt.Sprint(got), "the action "+rung+":") {
			t.Errorf("with %v: %q", counts, got)
		}
		counts[rungCount+rung] = 1
	}
	if got := unplayed(counts); len(got) != 1 || !strings.Contains(got[0], "summary") {
		t.Errorf("without a summary: %q", got)
	}
	counts[keptCount] = 1
	if got := unplayed(counts); len(got) > 0 {
		t.Errorf("with all of them: %q", got)
	}
}

// A process that is started again packs what the one before has written.
func TestWhatIsWrittenIsFoundPackedOrNot(t *testing.T) {
	folder := t.TempDir()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, `{"exchange":{"path":"/1-2-3/v1/messages","broke":true}}`+"\n")
	_ = w.Close()
	plain := []byte(`{"exchange":{"path":"/1-2-4/v1/messages","broke":true}}` + "\n")
	for name, text := range map[string][]byte{"day.jsonl.gz": packed.Bytes(), "day.1.jsonl": plain, "torn.jsonl.gz": {31, 139}} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told := newTold()
	for _, id := range []string{"1-2-3", "1-2-4"} {
		if told.readFiles(folder, id); !told.broke(id, 0) {
			t.Errorf("what is written of %s is not found", id)
		}
	}
}
