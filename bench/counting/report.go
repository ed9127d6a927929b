package counting

import (
	"fmt"
	"io"

	"epitome/bench/report"
)

// Speed is one kind of text in one vocabulary, counted by both sides. One MB is a million bytes.
type Speed struct {
	Kind                string  `json:"kind"`
	Vocabulary          string  `json:"vocabulary"`
	Bytes               int     `json:"bytes"`
	Tokens              int     `json:"tokens"`
	TiktokenTokens      int     `json:"tiktoken_tokens"`
	BytesPerToken       float64 `json:"bytes_per_token"`
	MBPerSecond         float64 `json:"mb_per_second"`          // median over the rounds
	TiktokenMBPerSecond float64 `json:"tiktoken_mb_per_second"` // median over the rounds
	Ratio               float64 `json:"ratio"`                  // median over the rounds of the ratio in each
	RatioLow            float64 `json:"ratio_low"`              // first quartile over the rounds
	RatioHigh           float64 `json:"ratio_high"`             // third quartile over the rounds
}

// Growth is one hard text, counted whole and in tenths.
type Growth struct {
	Text       string  `json:"text"`
	Vocabulary string  `json:"vocabulary"`
	Bytes      int     `json:"bytes"`
	Tokens     int     `json:"tokens"`
	TenthMS    float64 `json:"tenth_ms"` // for a tenth of it
	WholeMS    float64 `json:"whole_ms"`
	Growth     float64 `json:"growth"` // median over the rounds of the ratio in each; 10 is linear
}

// Conversation is a conversation counted through a memo.
type Conversation struct {
	Vocabulary string  `json:"vocabulary"`
	Texts      int     `json:"texts"`
	Bytes      int     `json:"bytes"`
	Tokens     int     `json:"tokens"`
	NewTexts   int     `json:"new_texts"`
	NewBytes   int     `json:"new_bytes"`
	ColdMS     float64 `json:"cold_ms"`  // nothing is known
	TurnMS     float64 `json:"turn_ms"`  // all but the new texts are known
	KnownMS    float64 `json:"known_ms"` // all are known
}

// Report is the result of Run. Times are comparable within one report only.
type Report struct {
	Machine       report.Machine `json:"machine"`
	Subject       string         `json:"subject"` // the side the goals are about
	Speed         []Speed        `json:"speed"`
	Growth        []Growth       `json:"growth"`
	Conversations []Conversation `json:"conversations"`
	Floors        []report.Floor `json:"floors"`
	Goals         []report.Goal  `json:"goals"`
	Skipped       []string       `json:"skipped"` // what was left out
}

// The limits of the goals.
const (
	maxGrowth = 20.0 // ×, for ten times the text
	maxTurnMS = 1.0
)

// minRatio returns the goal for a kind of text: how many times as fast as tiktoken-go it should be counted. 0 is no
// goal.
func minRatio(kind string) float64 {
	switch kind {
	case "code", "json", "json_compact", "log":
		return 20
	case "prose":
		return 12
	case "cjk":
		return 3
	}
	return 0
}

// settle fills in the goals.
func (r *Report) settle() {
	r.Floors, r.Goals = []report.Floor{}, []report.Goal{}
	differ := 0.0
	for _, s := range r.Speed {
		if s.Tokens != s.TiktokenTokens {
			differ++
		}
		if least := minRatio(s.Kind); least > 0 {
			r.Floors = append(r.Floors, report.Floor{Name: "speed against tiktoken-go, " + s.Kind + ", " + s.Vocabulary,
				Unit: "×", Value: s.Ratio, Limit: least})
		}
	}
	r.Goals = append(r.Goals, report.Goal{Name: "texts counted differently", Unit: "texts", Value: &differ, Limit: 0})
	for _, g := range r.Growth {
		r.Goals = append(r.Goals, report.Goal{Name: "time for ten times the text, " + g.Text + ", " + g.Vocabulary,
			Unit: "×", Value: &g.Growth, Limit: maxGrowth})
	}
	for _, c := range r.Conversations {
		name := fmt.Sprintf("conversation with %d new texts, %s", c.NewTexts, c.Vocabulary)
		r.Goals = append(r.Goals, report.Goal{Name: name, Unit: "ms", Value: &c.TurnMS, Limit: maxTurnMS})
	}
}

// Missed lists the goals that were missed.
func (r *Report) Missed() []string {
	return append(report.MissedFloors(r.Floors), report.MissedGoals(r.Goals)...)
}

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) error {
	t := report.NewTable(w, r.Machine)
	t.Section("Counting a text never seen",
		"text\tvocabulary\tKB\ttokens\ttiktoken-go's\tbytes/token\tMB/s\ttiktoken-go's\tratio\tquartiles")
	for _, x := range r.Speed {
		theirs := "the same"
		if x.Tokens != x.TiktokenTokens {
			theirs = fmt.Sprintf("%d, %+d", x.TiktokenTokens, x.TiktokenTokens-x.Tokens)
		}
		t.Row("%s\t%s\t%d\t%d\t%s\t%.2f\t%.1f\t%.1f\t%.1f×\t%.1f–%.1f", x.Kind, x.Vocabulary, x.Bytes/1000, x.Tokens,
			theirs,
			x.BytesPerToken, x.MBPerSecond, x.TiktokenMBPerSecond, x.Ratio, x.RatioLow, x.RatioHigh)
	}
	t.Section("Texts that are hard to split, and ten times as much (ms)",
		"text\tvocabulary\tKB\ttokens\ta tenth\twhole\tgrowth")
	for _, x := range r.Growth {
		t.Row("%s\t%s\t%d\t%d\t%.2f\t%.2f\t%.1f×", x.Text, x.Vocabulary, x.Bytes/1000, x.Tokens, x.TenthMS, x.WholeMS,
			x.Growth)
	}
	t.Section("A conversation through a memo (ms)",
		"vocabulary\ttexts\tKB\ttokens\tnew texts\tnew KB\tnothing known\tall but the new\tall known")
	for _, x := range r.Conversations {
		t.Row("%s\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.3f\t%.3f", x.Vocabulary, x.Texts, x.Bytes/1000, x.Tokens, x.NewTexts,
			x.NewBytes/1000,
			x.ColdMS, x.TurnMS, x.KnownMS)
	}
	t.Section("Goals of "+r.Subject, "figure\tvalue\tgoal\tverdict")
	for _, f := range r.Floors {
		t.Row("%s", f)
	}
	for _, g := range r.Goals {
		t.Row("%s", g)
	}
	for _, why := range r.Skipped {
		t.Row("SKIPPED %s", why)
	}
	return t.Flush()
}
