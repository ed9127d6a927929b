package bench

import (
	"fmt"
	"io"
)

// Floor is a figure that should be reached.
type Floor struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"` // met from this on
}

// Missed tells whether the figure is below its limit.
func (f Floor) Missed() bool { return f.Value < f.Limit }

func (f Floor) String() string {
	verdict := "met"
	if f.Missed() {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%s\t%.2f %s\t≥ %g\t%s", f.Name, f.Value, f.Unit, f.Limit, verdict)
}

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

// TokensReport is the result of Tokens. Times are comparable within one report only.
type TokensReport struct {
	Machine       Machine        `json:"machine"`
	Subject       string         `json:"subject"` // the side the goals are about
	Speed         []Speed        `json:"speed"`
	Growth        []Growth       `json:"growth"`
	Conversations []Conversation `json:"conversations"`
	Floors        []Floor        `json:"floors"`
	Goals         []Goal         `json:"goals"`
	Skipped       []string       `json:"skipped"` // what was left out
}

// The limits of the goals.
const (
	maxGrowth = 20.0 // ×, for ten times the text
	maxTurnMS = 1.0
)

// minRatio is how many times as fast as tiktoken-go a kind of text should be counted; 0 for a kind without a goal.
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
func (r *TokensReport) settle() {
	r.Floors, r.Goals = []Floor{}, []Goal{}
	differ := 0.0
	for _, s := range r.Speed {
		if s.Tokens != s.TiktokenTokens {
			differ++
		}
		if least := minRatio(s.Kind); least > 0 {
			r.Floors = append(r.Floors, Floor{"speed against tiktoken-go, " + s.Kind + ", " + s.Vocabulary, "×", s.Ratio, least})
		}
	}
	r.Goals = append(r.Goals, Goal{Name: "texts counted differently", Unit: "texts", Value: &differ, Limit: 0})
	for _, g := range r.Growth {
		r.Goals = append(r.Goals, Goal{Name: "time for ten times the text, " + g.Text + ", " + g.Vocabulary, Unit: "×", Value: &g.Growth, Limit: maxGrowth})
	}
	for _, c := range r.Conversations {
		name := fmt.Sprintf("conversation with %d new texts, %s", c.NewTexts, c.Vocabulary)
		r.Goals = append(r.Goals, Goal{Name: name, Unit: "ms", Value: &c.TurnMS, Limit: maxTurnMS})
	}
}

// Missed lists the goals that were missed.
func (r *TokensReport) Missed() []string { return append(missedFloors(r.Floors), missed(r.Goals)...) }

func missedFloors(floors []Floor) []string {
	var out []string
	for _, f := range floors {
		if f.Missed() {
			out = append(out, fmt.Sprintf("%s: %.2f %s, goal ≥ %g", f.Name, f.Value, f.Unit, f.Limit))
		}
	}
	return out
}

// Print writes the report as tables.
func (r *TokensReport) Print(w io.Writer) error {
	t := newTable(w, r.Machine)
	t.section("Counting a text never seen", "text\tvocabulary\tKB\ttokens\ttiktoken-go's\tbytes/token\tMB/s\ttiktoken-go's\tratio\tquartiles")
	for _, x := range r.Speed {
		theirs := "the same"
		if x.Tokens != x.TiktokenTokens {
			theirs = fmt.Sprintf("%d, %+d", x.TiktokenTokens, x.TiktokenTokens-x.Tokens)
		}
		t.row("%s\t%s\t%d\t%d\t%s\t%.2f\t%.1f\t%.1f\t%.1f×\t%.1f–%.1f", x.Kind, x.Vocabulary, x.Bytes/1000, x.Tokens, theirs,
			x.BytesPerToken, x.MBPerSecond, x.TiktokenMBPerSecond, x.Ratio, x.RatioLow, x.RatioHigh)
	}
	t.section("Texts that are hard to split, and ten times as much (ms)", "text\tvocabulary\tKB\ttokens\ta tenth\twhole\tgrowth")
	for _, x := range r.Growth {
		t.row("%s\t%s\t%d\t%d\t%.2f\t%.2f\t%.1f×", x.Text, x.Vocabulary, x.Bytes/1000, x.Tokens, x.TenthMS, x.WholeMS, x.Growth)
	}
	t.section("A conversation through a memo (ms)", "vocabulary\ttexts\tKB\ttokens\tnew texts\tnew KB\tnothing known\tall but the new\tall known")
	for _, x := range r.Conversations {
		t.row("%s\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.3f\t%.3f", x.Vocabulary, x.Texts, x.Bytes/1000, x.Tokens, x.NewTexts, x.NewBytes/1000,
			x.ColdMS, x.TurnMS, x.KnownMS)
	}
	t.section("Goals of "+r.Subject, "figure\tvalue\tgoal\tverdict")
	for _, f := range r.Floors {
		t.row("%s", f)
	}
	for _, g := range r.Goals {
		t.row("%s", g)
	}
	for _, why := range r.Skipped {
		t.row("SKIPPED %s", why)
	}
	return t.flush()
}
