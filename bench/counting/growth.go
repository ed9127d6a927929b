package counting

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"epitome/bench/report"
	"epitome/tokenize"
)

// hardText is a kind of text on which careless counters take quadratic time.
type hardText struct {
	name string
	make func(n int) []byte // about n bytes, which is ten at least
}

func hardTexts() []hardText {
	return []hardText{
		{"one letter", again("a")}, {"blanks", again(" ")}, {"line ends", again("\n")}, {"equals signs", again("=")},
		{"random letters", random("abcdefghijklmnopqrstuvwxyz")}, {"CJK run", again("日本語一番")}, {"emoji", again("😀👍🏽")},
		{"mixed white space", random(" \t\n\r ")}, {"digits", random("0123456789")},
		{"base64", random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")},
	}
}

func again(unit string) func(int) []byte {
	return func(n int) []byte { return []byte(strings.Repeat(unit, n/len(unit))) }
}

func random(letters string) func(int) []byte {
	return func(n int) []byte {
		rng := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same text each time
		text := make([]byte, n)
		for i := range text {
			text[i] = letters[rng.IntN(len(letters))]
		}
		return text
	}
}

// growth counts each hard text whole and in tenths, in turns.
func (r *tokensRun) growth(ctx context.Context) error {
	for _, h := range hardTexts() {
		r.say("growth, %s", h.name)
		text := h.make(10 * r.Small)
		for _, v := range r.sides {
			row, err := r.growthOf(ctx, v.ours, text)
			if err != nil {
				return err
			}
			row.Text, row.Vocabulary = h.name, v.name
			r.report.Growth = append(r.report.Growth, row)
		}
	}
	return nil
}

func (r *tokensRun) growthOf(ctx context.Context, c *tokenize.Counter, text []byte) (Growth, error) {
	g := Growth{Bytes: len(text)}
	var tenths, wholes, ratios []float64
	for range r.GrowthRounds {
		if err := ctx.Err(); err != nil {
			return g, err
		}
		// All ten are timed, so that both turns are alike to the machine.
		tenth := timed(func() {
			for part := range slices.Chunk(text, len(text)/10) {
				c.Count(part)
			}
		}) / 10
		whole := timed(func() { g.Tokens = c.Count(text) })
		tenths, wholes, ratios = append(tenths, tenth), append(wholes, whole), append(ratios, whole/max(tenth, 1e-6))
	}
	g.TenthMS, g.WholeMS, g.Growth = report.Median(tenths), report.Median(wholes), report.Median(ratios)
	return g, nil
}

// timed returns how long f takes, in milliseconds.
func timed(f func()) float64 {
	start := time.Now()
	f()
	return report.Milliseconds(time.Since(start))
}

// The conversation: its texts, of which the last are new, and their lengths in bytes.
const (
	conversationTexts = 200
	newTexts          = 3
	oldTextBytes      = 5_200
	newTextBytes      = 7_400
)

// conversationOf cuts texts out of the samples, turn by turn of another kind.
func conversationOf(samples []sample) [][]byte {
	var all [][]byte
	offset := make([]int, len(samples))
	for i := range conversationTexts {
		n := oldTextBytes
		if i >= conversationTexts-newTexts {
			n = newTextBytes
		}
		k := i % (len(samples) - 1) // the last is CJK, which comes in between
		if i%25 == 24 {
			k = len(samples) - 1
		}
		text := samples[k].text
		from := offset[k] % (len(text) - n)
		offset[k] = from + n - 100 // overlapping: no two texts are the same, even the second time around
		all = append(all, []byte(strings.ToValidUTF8(text[from:from+n], "")))
	}
	return all
}

// conversation counts a conversation by a memo that knows none of its texts, all but the last, and all.
func (r *tokensRun) conversation(ctx context.Context) error {
	r.say("conversation")
	texts := conversationOf(r.builtin)
	for _, v := range r.sides {
		c := Conversation{Vocabulary: v.name, Texts: len(texts), NewTexts: newTexts}
		for i, t := range texts {
			c.Bytes += len(t)
			if i >= len(texts)-newTexts {
				c.NewBytes += len(t)
			}
		}
		var cold, turn, known []float64
		for range r.MemoTries {
			if err := ctx.Err(); err != nil {
				return err
			}
			forget()
			memo := tokenize.NewMemo(1 << 16)
			all := func() { c.Tokens = countAll(memo, v.ours, texts) }
			countAll(memo, v.ours, texts[:len(texts)-newTexts])
			// The new texts are cut from the same samples, whose words the counter would know.
			forget()
			v.ours.CountString(r.builtin[len(r.builtin)-1].text) // in a program that runs there is scratch space
			turn = append(turn, timed(all))
			known = append(known, timed(all))
			forget()
			memo = tokenize.NewMemo(1 << 16)
			cold = append(cold, timed(all))
		}
		c.ColdMS, c.TurnMS, c.KnownMS = report.Median(cold), report.Median(turn), report.Median(known)
		r.report.Conversations = append(r.report.Conversations, c)
	}
	return nil
}

func countAll(m *tokenize.Memo, c *tokenize.Counter, texts [][]byte) int {
	n := 0
	for _, t := range texts {
		n += m.Count(c, t)
	}
	return n
}
