package event

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// PriceTable is the prices of models by provider. It does not change.
type PriceTable struct {
	Source string    `json:"source"` // the release that it comes from
	Date   time.Time `json:"date"`   // the day of that release

	Providers []provider `json:"providers"`
}

// provider sells models.
type provider struct {
	ID     string   `json:"id"`
	Hosts  []string `json:"hosts"`                    // one with a dot in front stands for all below it
	Match  match    `json:"model_match"`              // names that only its models have
	Others []string `json:"fallback_model_providers"` // whose models it sells besides
	Models []model  `json:"models"`
}

// model has prices, of which the last one that holds is in force.
type model struct {
	ID     string      `json:"id"` // once the table is read: PROVIDER/MODEL
	Match  match       `json:"match"`
	Prices []condition `json:"prices"`
}

// condition is a price that holds at all times, from a day on, or at some hours of each day in UTC.
type condition struct {
	Constraint struct {
		Date  string `json:"start_date"` // as in 2026-09-01
		Start string `json:"start_time"` // as in 16:30:00Z; may be after End
		End   string `json:"end_time"`
	} `json:"constraint"`
	Prices struct {
		Price
		Reasoning *Rate `json:"output_reasoning_mtok"`
	} `json:"prices"`
}

// match says which names of models fit: the one field that is set decides. Case does not matter, except in expressions,
// which see the name in lower case.
type match struct {
	Or       []match        `json:"or"`
	And      []match        `json:"and"`
	Not      *match         `json:"not"`
	Equals   string         `json:"equals"`
	Prefix   string         `json:"starts_with"`
	Suffix   string         `json:"ends_with"`
	Contains string         `json:"contains"`
	Regexp   *regexp.Regexp `json:"regex"`
}

//go:generate go run gen.go

//go:embed prices/prices.json
var builtin []byte

// BuiltinPrices returns the table of this build, which gen.go has written. The first call reads it, which takes some
// milliseconds.
var BuiltinPrices = sync.OnceValue(func() *PriceTable {
	var t PriceTable
	if err := json.Unmarshal(builtin, &t); err != nil {
		panic(fmt.Errorf("BUG: cannot read the table of prices: %w", err))
	}
	for _, p := range t.Providers {
		for i := range p.Models {
			p.Models[i].ID = p.ID + "/" + p.Models[i].ID
		}
	}
	return &t
})

// Find returns the price in force at a time of a model as a request to a host names it; nil if none is known. The host
// says who sells it; one that is of no provider in the table leaves that to the name, which may begin with the
// provider's, as routers write it ("openai/gpt-5").
func (t *PriceTable) Find(host, name string, at time.Time) *Price {
	return t.find(host, name).price(at)
}

// find returns the row of a model; nil if there is none.
func (t *PriceTable) find(host, name string) *model {
	name = strings.ToLower(strings.TrimSpace(name))
	p := t.seller(host)
	if p == nil {
		p, name = t.byName(name)
	}
	if p == nil {
		return nil
	}
	for _, spelled := range []string{name, dayInName.ReplaceAllString(name, "-$1-$2-$3$4")} {
		for _, id := range append([]string{p.ID}, p.Others...) {
			models := t.provider(id).Models
			if i := slices.IndexFunc(models, func(m model) bool { return m.Match.fits(spelled) }); i >= 0 {
				return &models[i]
			}
		}
	}
	return nil
}

// dayInName matches a day as in 20260801, which some rows have as 2026-08-01.
var dayInName = regexp.MustCompile(`-(20\d\d)(\d\d)(\d\d)([-:]|$)`)

func (t *PriceTable) provider(id string) *provider {
	for i := range t.Providers {
		if t.Providers[i].ID == id {
			return &t.Providers[i]
		}
	}
	return nil
}

// seller returns the provider that a host belongs to; nil if that is none of the table.
func (t *PriceTable) seller(host string) *provider {
	host = strings.ToLower(host)
	for i := range t.Providers {
		for _, h := range t.Providers[i].Hosts {
			if host == h || h[0] == '.' && strings.HasSuffix("."+host, h) {
				return &t.Providers[i]
			}
		}
	}
	return nil
}

// byName returns the provider whose models have such names, and the name as it calls it. A name with a tag behind a
// colon is one of Ollama's: nobody asks money for it.
func (t *PriceTable) byName(name string) (*provider, string) {
	if before, rest, ok := strings.Cut(name, "/"); ok {
		if p := t.provider(before); p != nil {
			return p, rest
		}
	}
	if strings.Contains(name, ":") && !strings.HasPrefix(name, "ft:") {
		return nil, name
	}
	for i := range t.Providers {
		if p := &t.Providers[i]; p.Match.fits(name) {
			return p, name
		}
	}
	return nil, name
}

// price returns the price that is in force, or the first one if none is; nil if there is none for text, or another one
// for thinking, or no model.
func (m *model) price(now time.Time) *Price {
	if m == nil {
		return nil
	}
	i := len(m.Prices) - 1
	for i > 0 && !m.Prices[i].holds(now.UTC()) {
		i--
	}
	prices := &m.Prices[i].Prices
	if prices.Input == nil || prices.Output == nil || prices.Reasoning != nil {
		return nil
	}
	found := prices.Price
	found.ID = m.ID
	return &found
}

func (c *condition) holds(now time.Time) bool {
	clock, start, end := now.Format("15:04:05Z"), c.Constraint.Start, c.Constraint.End
	switch {
	case start == end:
		return now.Format(time.DateOnly) >= c.Constraint.Date
	case start < end:
		return clock >= start && clock < end
	default: // over midnight
		return clock >= start || clock < end
	}
}

// fits reports whether a name in lower case is one of them.
func (m *match) fits(name string) bool {
	switch {
	case m.Or != nil:
		return slices.ContainsFunc(m.Or, func(one match) bool { return one.fits(name) })
	case m.And != nil:
		return !slices.ContainsFunc(m.And, func(one match) bool { return !one.fits(name) })
	case m.Not != nil:
		return !m.Not.fits(name)
	case m.Equals != "":
		return strings.EqualFold(name, m.Equals)
	case m.Prefix != "":
		return strings.HasPrefix(name, strings.ToLower(m.Prefix))
	case m.Suffix != "":
		return strings.HasSuffix(name, strings.ToLower(m.Suffix))
	case m.Contains != "":
		return strings.Contains(name, strings.ToLower(m.Contains))
	}
	return m.Regexp != nil && m.Regexp.MatchString(name)
}
