// Package counting compares the speed of counting tokens with tiktoken-go, over texts of several kinds.
//
// It promises that both count the same texts in turns, and that the texts in the program are the same for each version
// of it until they are made anew. That counts are right is for the tests of package tokenize: here they are only shown
// side by side.
package counting

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"epitome/bench/report"
	"epitome/bench/samples"
	"epitome/tokenize"
)

// Options are what Run can be told. The defaults take about 40 seconds.
type Options struct {
	// Files are the texts to count, each a kind of its own. Default: the samples in the program.
	Files []string
	// Rounds is how often each text is counted by either side. Default 15, fewer with large files: the rounds end
	// after Limit, but not before the third.
	Rounds int
	Limit  time.Duration // default 30 s
	// GrowthRounds is how often each pathological text is counted. Default 5.
	GrowthRounds int
	// Small is the length of the shorter pathological texts in bytes; the longer ones have ten times as many.
	// Default 100 000.
	Small int
	// MemoTries is how often the conversation is counted. Default 15.
	MemoTries int
	// Progress gets a line per step. Default os.Stderr.
	Progress io.Writer
	// Quick makes the defaults tiny: it shows that everything works and yields no figure worth reading.
	Quick bool
}

func (o Options) withDefaults() Options {
	def := Options{Rounds: 15, Limit: 30 * time.Second, GrowthRounds: 5, Small: 100_000, MemoTries: 15}
	if o.Quick {
		def = Options{Rounds: 1, Limit: time.Second, GrowthRounds: 1, Small: 10_000, MemoTries: 1}
	}
	o.Rounds = cmp.Or(max(o.Rounds, 0), def.Rounds)
	o.Limit = cmp.Or(max(o.Limit, 0), def.Limit)
	o.GrowthRounds = cmp.Or(max(o.GrowthRounds, 0), def.GrowthRounds)
	o.Small = cmp.Or(max(o.Small, 0), def.Small)
	o.MemoTries = cmp.Or(max(o.MemoTries, 0), def.MemoTries)
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	return o
}

// maxSample is how much of a file is counted, in bytes: tiktoken-go needs a quarter of a second for that.
const maxSample = 1 << 20

// sample is a text of one kind.
type sample struct {
	kind string
	text string // valid UTF-8
}

// builtinSamples returns the texts in the program, by the names that goals know them by.
func builtinSamples() ([]sample, error) {
	var all []sample
	for _, kind := range []string{"prose", "code", "json", "json_compact", "log", "cjk"} {
		text, err := samples.Text(kind)
		if err != nil {
			return nil, err
		}
		all = append(all, sample{kind, text})
	}
	return all, nil
}

// tokensRun is one Run under way.
type tokensRun struct {
	Options
	builtin []sample
	sides   []*vocabularySides
	report  *Report
}

// vocabularySides are the two counters of one vocabulary.
type vocabularySides struct {
	name   string
	ours   *tokenize.Counter
	theirs *tiktoken.Tiktoken
}

// Run measures counting: epitome against tiktoken-go in turns, how epitome's time grows on texts that are hard to
// split, and what a conversation costs whose texts are known but for the last ones.
//
// Each turn of epitome's counts a text as if for the first time: before it, Run drops what epitome remembers of pieces,
// and counts texts of all other kinds. Run sets the loader of package tiktoken, for the whole program.
func Run(ctx context.Context, opts Options) (*Report, error) {
	r := &tokensRun{Options: opts.withDefaults(), report: &Report{Machine: report.ThisMachine(), Subject: "epitome",
		Skipped: []string{}}}
	var err error
	if r.builtin, err = builtinSamples(); err != nil {
		return nil, err
	}
	texts, err := r.texts()
	if err != nil {
		return nil, err
	}
	if err = r.load(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return r.speed(ctx, texts) },
		func() error { return r.growth(ctx) },
		func() error { return r.conversation(ctx) },
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("cannot measure token counting: %w", err)
		}
	}
	r.report.settle()
	return r.report, nil
}

func (r *tokensRun) say(format string, args ...any) {
	fmt.Fprintf(r.Progress, "bench: "+format+"\n", args...)
}

// texts returns the given files, or what is in the program.
func (r *tokensRun) texts() ([]sample, error) {
	if len(r.Files) == 0 {
		return r.builtin, nil
	}
	var all []sample
	for _, path := range r.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read text %s: %w", path, err)
		}
		kind := filepath.Base(path)
		if len(text) == 0 {
			return nil, fmt.Errorf("cannot count text %s: it is empty", path)
		}
		if len(text) > maxSample {
			cut := maxSample
			for cut > 0 && !utf8.RuneStart(text[cut]) {
				cut--
			}
			text = text[:cut]
			r.report.Skipped = append(r.report.Skipped, kind+": what is behind its first MB")
		}
		if !utf8.Valid(text) {
			r.report.Skipped = append(r.report.Skipped, kind+": bytes that are not UTF-8")
		}
		all = append(all, sample{kind, strings.ToValidUTF8(string(text), "")})
	}
	return all, nil
}

// load makes the counters of both sides.
func (r *tokensRun) load() error {
	r.say("loading vocabularies")
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	var counters tokenize.Counters
	for _, v := range []tokenize.Vocabulary{tokenize.O200k, tokenize.Cl100k} {
		ours, err := counters.For(v)
		if err != nil {
			return err
		}
		theirs, err := tiktoken.GetEncoding(v.String())
		if err != nil {
			return fmt.Errorf("cannot load vocabulary %s of tiktoken-go: %w", v, err)
		}
		r.sides = append(r.sides, &vocabularySides{v.String(), ours, theirs})
	}
	return nil
}

// forget makes a counter drop its scratch space, which holds the pieces it has seen: that survives one collection.
func forget() {
	runtime.GC()
	runtime.GC()
}

// speedCell is one text in one vocabulary, and what its turns took in seconds.
type speedCell struct {
	sample
	*vocabularySides
	counts       [2]int // ours, theirs
	ours, theirs []float64
}

// speed has both sides count each text in each vocabulary, one right behind the other, round by round.
func (r *tokensRun) speed(ctx context.Context, texts []sample) error {
	var cells []*speedCell
	for _, s := range texts {
		for _, v := range r.sides {
			cells = append(cells, &speedCell{sample: s, vocabularySides: v})
		}
	}
	end := time.Now().Add(r.Limit)
	for round := range r.Rounds {
		if round >= 3 && time.Now().After(end) {
			break
		}
		r.say("speed, round %d of at most %d", round+1, r.Rounds)
		for _, c := range cells {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.turn(r.otherKinds(c.kind))
		}
	}
	for _, c := range cells {
		r.report.Speed = append(r.report.Speed, c.row())
	}
	return nil
}

// otherKinds returns the texts of other kinds than the one to be measured.
func (r *tokensRun) otherKinds(kind string) []sample {
	return slices.DeleteFunc(slices.Clone(r.builtin), func(s sample) bool { return s.kind == kind })
}

// turn lets both sides count the text once. Ours comes first, behind the collection that the turn before left over,
// and after other texts, as a text comes in the middle of a conversation.
func (c *speedCell) turn(foreign []sample) {
	forget()
	ours, theirs := c.vocabularySides.ours, c.vocabularySides.theirs
	for _, s := range foreign {
		ours.CountString(s.text)
	}
	start := time.Now()
	c.counts[0] = ours.CountString(c.text)
	c.ours = append(c.ours, time.Since(start).Seconds())
	start = time.Now()
	c.counts[1] = len(theirs.EncodeOrdinary(c.text))
	c.theirs = append(c.theirs, time.Since(start).Seconds())
}

func (c *speedCell) row() Speed {
	ratios := make([]float64, len(c.ours))
	for i := range ratios {
		ratios[i] = c.theirs[i] / max(c.ours[i], 1e-9)
	}
	mb := float64(len(c.text)) / 1e6
	return Speed{
		Kind: c.kind, Vocabulary: c.name, Bytes: len(c.text), Tokens: c.counts[0], TiktokenTokens: c.counts[1],
		BytesPerToken:       float64(len(c.text)) / float64(max(c.counts[0], 1)),
		MBPerSecond:         mb / max(report.Median(c.ours), 1e-9),
		TiktokenMBPerSecond: mb / max(report.Median(c.theirs), 1e-9),
		Ratio:               report.Median(ratios), RatioLow: report.Percentile(ratios, 25),
		RatioHigh: report.Percentile(ratios, 75),
	}
}
