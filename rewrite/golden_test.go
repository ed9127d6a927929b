package rewrite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/tools/txtar"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/limits"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/responses"
	"epitome/rewrite/span"
)

var update = flag.Bool("update", false, "write what is sent into the golden conversations, to be read before it is committed")

// option is the world of a golden conversation. It holds on until another file N.toml changes it before turn N.
type option struct {
	limits.Limits
	Dialect string // messages or responses; empty for Chat Completions
	With    string // settings of the request, as JSON, behind its messages
	Window  int
	Model   string
	Scope   string
	Mode    string
	Detail  string
	Prose   string // what a model says when it is asked for a summary; empty if it fails
	Now     bool   // compact now, this turn
	Full    bool   // the shelf is
	Lost    bool   // all artifacts were lost, and the ledger finds it due to look
	Fail    bool   // nothing can be kept
	Mute    bool   // nobody can reach an artifact
	Restart bool   // the process was started again before this turn
}

// TestGoldenConversations plays testdata/shape. In each file, 1.in has the messages of the first request, one in a
// line; in those of later ones, ... stands for all messages of the turn before, and ...N for the first N of them.
// $(log N), $(code N), $(json N), $(row N), $(screen N) and $(words N) are texts of so many lines, as they stand in a
// JSON string. N.want is what is sent: a message that goes as it came is = and its number. N.report says what was done.
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/shape/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playGolden(t, ar)
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range got.Files {
				if want := fileIn(ar, f.Name); want != string(f.Data) {
					t.Errorf("%s is\n%s\nand was to be\n%s", f.Name, f.Data, want)
				}
			}
		})
	}
}

func fileIn(ar *txtar.Archive, name string) string {
	i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return ""
	}
	return string(ar.Files[i].Data)
}

// playGolden is the archive as it is to be.
func playGolden(t *testing.T, ar *txtar.Archive) *txtar.Archive {
	t.Helper()
	b := newBench(0)
	b.listen()
	set := option{Limits: goldenLimits(), Window: 8000, Model: "gpt-5"}
	got := &txtar.Archive{Comment: ar.Comment}
	add := func(name, text string) {
		got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(strings.TrimRight(text, "\n") + "\n\n")})
	}
	var before []string
	for turn := 1; ; turn++ {
		in, settings := fmt.Sprintf("%d.in", turn), fmt.Sprintf("%d.toml", turn)
		if fileIn(ar, in) == "" {
			return got
		}
		if text := fileIn(ar, settings); text != "" {
			if err := toml.Unmarshal([]byte(text), &set); err != nil {
				t.Fatal(err)
			}
			add(settings, text)
		}
		b.enter(&set)
		before = goldenMessages(fileIn(ar, in), before)
		key := "messages"
		b.dialect = chat.Dialect{}
		switch set.Dialect {
		case "messages":
			b.dialect = messages.Dialect{}
		case "responses":
			b.dialect, key = responses.Dialect{}, "input"
		}
		body := `{"model":"` + set.Model + `","` + key + `":[` + strings.Join(before, ",\n") + "]" + set.With + "}"
		out := b.shape(body)
		judged(t, b, body, out)
		add(in, fileIn(ar, in))
		add(fmt.Sprintf("%d.want", turn), goldenSent(t, before, out))
		add(fmt.Sprintf("%d.report", turn), goldenReport(&out.Report))
	}
}

// goldenLimits are small enough for conversations that somebody can read.
func goldenLimits() limits.Limits {
	l := plantest.Limits()
	l.Floor, l.OffloadShare, l.Screen, l.Groups = 100, 1, 60, 2
	l.Offload, l.Lookups, l.OffloadReads, l.OffloadKeep = 400, 400, 800, 60
	l.ClearAtLeast, l.Protect = 100, 200
	return l
}

// enter makes the world what the option says.
func (b *bench) enter(s *option) {
	b.limits, b.window, b.scope, b.cupboard.Crowded, b.cupboard.Mute = s.Limits, s.Window, s.Scope, s.Full, s.Mute
	b.style, b.now, b.narrator.says, b.narrator.fail = prose.Style{Mode: s.Mode, Detail: s.Detail}, s.Now, s.Prose, nil
	if s.Prose == "" {
		b.narrator.fail = errNarrator
	}
	b.notes.due, b.notes.fail, b.cupboard.Err = s.Lost, nil, nil
	if s.Lost {
		b.cupboard.Clear()
	}
	if s.Fail {
		b.cupboard.Err = errors.New("no space left on device")
	}
	if s.Restart {
		b.restart()
	}
	s.Restart, s.Lost, s.Fail, s.Now = false, false, false, false
}

// goldenMessages reads a file N.in.
func goldenMessages(text string, before []string) (list []string) {
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if n, ok := strings.CutPrefix(l, "..."); ok {
			most := len(before)
			if n != "" {
				most, _ = strconv.Atoi(n)
			}
			list = append(list, before[:most]...)
		} else if l != "" {
			list = append(list, goldenTexts(l))
		}
	}
	return list
}

// goldenTexts puts the long texts in.
func goldenTexts(l string) string {
	for {
		before, rest, found := strings.Cut(l, "$(")
		if !found {
			return l
		}
		what, after, _ := strings.Cut(rest, ")")
		kind, number, _ := strings.Cut(what, " ")
		n, _ := strconv.Atoi(number)
		text := ""
		for i := 1; i <= n; i++ {
			text += goldenLine(kind, i)
		}
		if kind == "json" || kind == "row" {
			text = "[" + strings.TrimRight(text, ",\n") + "]"
		}
		quoted := string(span.AppendQuoted(nil, text))
		l = before + quoted[1:len(quoted)-1] + after
	}
}

func goldenLine(kind string, i int) string {
	switch kind {
	case "log":
		return fmt.Sprintf("12:%02d:%02d request %d took %d ms\n", i/60, i%60, i*7919%1000, i*31%17)
	case "code":
		return fmt.Sprintf("%6d\tfunc step%d(ctx Context) error { return run(ctx, %d) }\n", i, i, i*i)
	case "json":
		return fmt.Sprintf(`{"id": %d, "name": "item %d", "price": %d.50},`+"\n", i, i, i*3)
	case "row":
		return strings.TrimSuffix(goldenLine("json", i), "\n")
	case "screen":
		return fmt.Sprintf("\rDownloading %d%%\x1b[K", i)
	}
	return []string{"alpha ", "beta ", "gamma ", "delta ", "omega "}[i%5]
}

// goldenSent shows what is sent.
func goldenSent(t *testing.T, came []string, out Output) string {
	t.Helper()
	r, err := out.dialect.Read(out.Body, nil)
	if err != nil {
		return string(out.Body)
	}
	var b strings.Builder
	at := 0
	for i, it := range r.Items {
		sent := string(it.Place().Of(r.Body))
		if i > 0 && it.Place() == r.Items[i-1].Place() {
			continue
		}
		// an item may be several
		_ = span.Each([]byte(sent), span.Span{End: len(sent)}, func(start int) (end int, err error) {
			end, err = span.EndOfValue([]byte(sent), start)
			one := sent[start:end]
			if i := slices.Index(came[at:], one); i >= 0 {
				at += i + 1
				fmt.Fprintf(&b, "= %d\n", at)
				return end, err
			}
			b.WriteString(strings.ReplaceAll(one, `\n`, "\\n\n    ") + "\n")
			return end, err
		})
	}
	return b.String()
}

func goldenReport(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d > %d of %d tokens", r.Action, r.Before.Total(), r.After.Total(), r.Usable)
	for _, s := range []struct {
		is   bool
		says string
	}{{r.Decided, "decided"}, {r.Broke, "broke"}, {r.Repeated > 0, fmt.Sprint(r.Repeated, " repeated")}} {
		if s.is {
			b.WriteString(", " + s.says)
		}
	}
	fmt.Fprintf(&b, "\nconversation %s\n", r.Conversation)
	if r.Reason != "" || r.Code != event.NoCode {
		fmt.Fprintf(&b, "%s: %s\n", r.Code, r.Reason)
	}
	if r.Err != nil {
		b.WriteString("error: " + r.Err.Error() + "\n")
	}
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "%d: %s, %s %s, %s: %s, %d > %d, %s\n", c.Item+1, c.Rung, c.Tool, c.Argument, c.Code, c.Why, c.Before, c.After, c.Artifact)
	}
	return b.String()
}
