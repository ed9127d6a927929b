package ladder_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"epitome/dialect/chat"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
)

var update = flag.Bool("update", false, "write what comes out into the goldens")

// A golden in testdata is a conversation that holds the key, or the step, in its name. To add one, write its first two
// parts, or change the ladder, and then look at the difference that this command makes:
//
//	go test ./rewrite/ladder -run Goldens -update
//
// The part "settings" has keys of [rewrite] and those of settings. The part "items" has a line for each item:
//
//	NUMBER ROLE TOKENS WORD...
//
// ROLE is system, user, assistant, result, or any other that no API knows. Words behind an assistant's tokens are the
// tools that it calls, with reads=N to read back what was taken out of item N, and file=NAME for the file of the call
// before. Words behind others:
//
//	failed             the result says that the command failed
//	progress           the result is a progress bar
//	new                the text shares no word with others, and has three times as many tokens
//	like=N             the text is that of item N
//	name=NAME          the name of who speaks
//	asked              the request that ends with the item asks for a compaction; asked=N for one to N tokens
//	pause              the agent waits for ten minutes before it sends this request
//	model=NAME         this and later requests go to another model
//	refused=N,M        the provider refuses this request, and a shorter form: they may have N and then M tokens
//
// The part "edits" has each request for which something was decided, with its items and its tokens before and after,
// and its new edits: step, operation, reason, items, tokens saved. Numbers are rounded to hundreds.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d goldens, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 3 {
				t.Fatalf("%d parts, %v", len(archive.Files), err)
			}
			items, edits := parseItems(t, archive.Files[1].Data), &archive.Files[2].Data
			got := newGolden(t, archive.Files[0].Data).play(items)
			if *update {
				archive.Files[1].Data, *edits = items.format(), got
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(got, *edits) {
				t.Errorf("got\n%s\nwant\n%s", got, *edits)
			}
		})
	}
}

// goldenItem is a line of a golden.
type goldenItem struct {
	role   string
	tokens int
	words  []string
	flags  map[string]string // the words, and what follows each behind "="
}

type goldenItems []goldenItem

func parseItems(t *testing.T, lines []byte) (items goldenItems) {
	for line := range strings.Lines(string(lines)) {
		words := strings.Fields(line)
		if len(words) > 0 && strings.Trim(words[0], "0123456789") == "" { // the number, which -update writes anew
			words = words[1:]
		}
		if len(words) < 2 {
			t.Fatalf("%q has no role and size", line)
		}
		tokens, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		it := goldenItem{words[0], tokens, words[2:], map[string]string{}}
		for _, word := range it.words {
			name, value, _ := strings.Cut(word, "=")
			it.flags[name] = value
		}
		items = append(items, it)
	}
	return items
}

func (items goldenItems) format() (lines []byte) {
	for i, it := range items {
		line := fmt.Sprintf("%2d %-9s %5d %s", i, it.role, it.tokens, strings.Join(it.words, " "))
		lines = append(append(lines, strings.TrimRight(line, " ")...), '\n')
	}
	return lines
}

type settings struct {
	ladder.Limits
	Window     int     `toml:"window"`      // tokens
	Usable     int     `toml:"usable"`      // tokens
	First      int     `toml:"first"`       // items of the first request, if it has not all; then each turn sends one
	ModelTexts int     `toml:"model_texts"` // tokens of the summaries that a model writes; without it none is asked
	Price      float64 `toml:"price"`       // of the model's cached tokens; without it none is known
}

// golden is a conversation that is played.
type golden struct {
	*testing.T
	settings
	shaper   *rewrite.Shaper
	now      time.Time
	model    string
	messages []string
	waiting  []string // IDs of calls that wait for their results
	out      rewrite.Output
	prepared map[string]bool // keys of the summaries that the model has written
	got      bytes.Buffer
}

func newGolden(t *testing.T, keys []byte) *golden {
	g := &golden{T: t, now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), model: "gpt-4o", prepared: map[string]bool{}}
	g.Limits = ladder.Usual()
	g.ClearAt, g.CompactAt, g.Target, g.KeepTail = .8, .9, .5, 20_000
	g.CacheLife = unit.Duration(5 * time.Minute)
	read := func() error {
		return toml.NewDecoder(bytes.NewReader(keys)).DisallowUnknownFields().Decode(&g.settings)
	}
	err := read() // and again below, as the keys hold against the preset
	if err = errors.Join(err, g.SetPreset(cmp.Or(g.Preset, "balanced")), read(), g.Check()); err != nil {
		t.Fatal(err)
	}
	deps := rewrite.Deps{
		Ledger: ledger.New(store.NewMemory(1<<30), time.Hour), Shelf: shelf{}, Memo: tokenize.NewMemo(1 << 16),
		Window:      func(_, _ string, _ int) (int, int) { return g.Window, g.Usable },
		CachedPrice: func(_, _ string) (float64, bool) { return g.Price, g.Price > 0 },
	}
	if g.ModelTexts > 0 {
		deps.Summarizer = g
	}
	g.shaper = rewrite.NewShaper(deps)
	return g
}

// play sends the conversation as it grows, and returns what was decided.
func (g *golden) play(items goldenItems) []byte {
	for i, it := range items {
		g.messages = append(g.messages, g.message(it))
		isLast := i+1 == len(items)
		isTurn := g.First > 0 && i+1 >= g.First && it.role != "assistant" && !isLast && items[i+1].role == "assistant"
		if isLast || isTurn {
			g.send(it, isLast)
		}
	}
	return g.got.Bytes()
}

func (g *golden) send(last goldenItem, isLast bool) {
	g.now = g.now.Add(time.Second)
	if _, ok := last.flags["pause"]; ok {
		g.now = g.now.Add(10 * time.Minute)
	}
	if model, ok := last.flags["model"]; ok {
		g.model = model
	}
	asked, isAsked := last.flags["asked"]
	to, _ := strconv.Atoi(asked)                                     // 0 where it names no size
	const tools = `[{"type":"function","function":{"name":"bash"}}]` // without any, nothing can be read back
	body := `{"model":"` + g.model + `","tools":` + tools + `,"messages":[` + strings.Join(g.messages, ",") + `]}`
	in := rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(body), Limits: &g.Limits, Compact: isAsked, CompactTo: to, Now: g.now,
		Client: context.Background(), Credential: func() any { return nil }}
	g.shape(in, isLast)
	const tries = 4 // as many as the proxy makes
	refused, ok := last.flags["refused"]
	if !ok {
		return
	}
	for k, most := range strings.Split(refused, ",") {
		tokens, err := strconv.Atoi(most)
		if err != nil {
			g.Fatal(err)
		}
		in.Rescue = &rewrite.Rescue{Most: tokens, From: g.out.Report.Stage.Next(k+1 == tries)}
		fmt.Fprintf(&g.got, "refused: at most %d, from stage %s\n", tokens, in.Rescue.From)
		g.shape(in, true)
	}
	if g.out.Settle == nil || !g.out.Settle() {
		g.Error("the rescue is not recorded")
	}
}

var ops = [...]string{"", "shorten", "clear", "drop", "drop thinking", "append"}

// shape has a request shaped, and writes down what was decided; for the last request, why there is no more, too.
func (g *golden) shape(in rewrite.Input, isLast bool) {
	g.out = g.shaper.Shape(in)
	r := &g.out.Report
	if err := cmp.Or(r.Err, r.Faults); err != nil {
		g.Fatal(err)
	}
	if !r.Decided && !isLast && len(r.Warnings) == 0 {
		return
	}
	fmt.Fprintf(&g.got, "request of %d items: %d > %d", r.Items, rounded(r.TokensBefore.Total()),
		rounded(r.TokensAfter.Total()))
	if in.Rescue != nil {
		fmt.Fprintf(&g.got, ", stage %s", r.Stage)
	}
	if isLast && r.Code != event.NoCode {
		fmt.Fprintf(&g.got, ", then %s", r.Code)
	}
	g.got.WriteString("\n")
	for _, w := range r.Warnings {
		fmt.Fprintf(&g.got, "  warns of %s\n", w.Reason)
	}
	var lines []string // the edits by step, operation and reason, in the order of their first items
	items, saved := map[string]string{}, map[string]int{}
	for _, c := range g.out.Changes() {
		if !c.New {
			continue
		}
		line := fmt.Sprintf("  %-7s %-7s %-19s", c.Step, ops[c.Op], c.Reason)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		items[line] += " " + strconv.Itoa(c.First)
		if c.Count > 1 {
			items[line] += "-" + strconv.Itoa(c.End()-1)
		}
		saved[line] += c.Saved
	}
	for _, line := range lines {
		fmt.Fprintf(&g.got, "%s items%s, saves %d\n", line, items[line], rounded(saved[line]))
	}
}

func rounded(tokens int) int { return (tokens + 50) / 100 * 100 }

type object = map[string]any

// message returns the JSON of an item.
func (g *golden) message(it goldenItem) string {
	seed := len(g.messages)
	if like, ok := it.flags["like"]; ok {
		seed, _ = strconv.Atoi(like)
	}
	said := text(seed, it.tokens)
	if _, isNew := it.flags["new"]; isNew {
		said = strings.ReplaceAll(said, " ", fmt.Sprintf("_%d ", len(g.messages)))
	}
	m := object{"role": it.role, "content": said}
	if name, ok := it.flags["name"]; ok {
		m["name"] = name
	}
	_, isFailed := it.flags["failed"]
	_, isProgress := it.flags["progress"]
	switch {
	case it.role == "assistant" && len(it.words) > 0:
		m["tool_calls"] = g.calls(it.words)
	case it.role == "result":
		if len(g.waiting) == 0 {
			g.Fatalf("item %d answers no call", len(g.messages))
		}
		m["role"], m["tool_call_id"], g.waiting = "tool", g.waiting[0], g.waiting[1:]
		if isProgress {
			m["content"] = strings.Join(strings.Fields(m["content"].(string)), "\r")
		}
		if isFailed {
			m["content"] = m["content"].(string) + "\n--- FAIL: TestSum\n    got 3, want 2\nexit code 1\n"
		}
	}
	raw, _ := json.Marshal(m) // plain data
	return string(raw)
}

// calls returns the calls of tools, which is the list that may end with reads=N.
func (g *golden) calls(tools []string) (calls []any) {
	for k, tool := range tools {
		if strings.HasPrefix(tool, "file=") {
			continue
		}
		id := fmt.Sprintf("call_%d_%d", len(g.messages), len(calls))
		arguments := object{"path": "src/" + id + ".go"}
		if item, ok := strings.CutPrefix(tool, "reads="); ok {
			tool, arguments = "read", object{"path": g.artifact(item)}
		}
		if file, ok := strings.CutPrefix(strings.Join(tools[k+1:min(k+2, len(tools))], ""), "file="); ok {
			arguments["path"] = file
		}
		raw, _ := json.Marshal(arguments) // plain data
		calls = append(calls, object{"id": id, "type": "function",
			"function": object{"name": tool, "arguments": string(raw)}})
		g.waiting = append(g.waiting, id)
	}
	return calls
}

// artifact returns the name of the artifact with an item, as the last request was sent.
func (g *golden) artifact(item string) string {
	for _, c := range g.out.Changes() {
		if strconv.Itoa(c.First) == item {
			return c.Artifacts[0]
		}
	}
	g.Fatalf("nothing was taken out of item %s", item)
	return ""
}

// text returns a text of about so many tokens, the same for a seed: lines of twelve words of one token each.
func text(seed, tokens int) string {
	words := strings.Fields("build store cache window table north south river stone paper green light house water " +
		"music field garden table ship road")
	chance := rand.New(rand.NewPCG(uint64(seed), 1))
	var b strings.Builder
	for n := 1; n < tokens; n++ {
		end := " "
		if n%13 == 0 {
			end = "\n"
			n++ // the line break
		}
		b.WriteString(words[chance.IntN(len(words))] + end)
	}
	return b.String()
}

// shelf names artifacts and keeps none.
type shelf struct{}

func (shelf) Name(_ string, content []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(content))[:26]
}

func (shelf) Address(name string) string     { return "/artifacts/" + name }
func (shelf) Put(string, []byte, bool) error { return nil }
func (shelf) Touch(string) bool              { return true }
func (shelf) Full() bool                     { return false }

// The golden is a model that is asked for summaries: the text is there for the next request if it is asked ahead.

func (g *golden) Look(key string) (p summarize.Prose, found bool, err error) {
	return g.prose(), g.prepared[key], nil
}

func (g *golden) Ask(_ context.Context, q summarize.Question) (summarize.Prose, error) {
	fmt.Fprintf(&g.got, "a model is asked about %d tokens, and waited for\n", rounded(q.SpanTokens))
	return g.prose(), nil
}

func (g *golden) Prepare(q summarize.Question) {
	fmt.Fprintf(&g.got, "a model is asked ahead about %d tokens\n", rounded(q.SpanTokens))
	g.prepared[q.Key] = true
}
func (g *golden) Prepares(string) bool { return true }

func (g *golden) prose() summarize.Prose { return summarize.Prose{Text: text(1, g.ModelTexts)} }
