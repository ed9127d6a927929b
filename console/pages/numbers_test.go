package pages

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"epitome/event"
)

// numbersOf returns all numbers that answers of the API hold, and the lengths of their lists.
func numbersOf(t *testing.T, answers ...any) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case float64:
			all[strconv.FormatFloat(v, 'f', -1, 64)] = true
		case []any:
			all[strconv.Itoa(len(v))] = true
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	for _, answer := range answers {
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		walk(v)
	}
	all["0"] = true // what is 0 is left out
	return all
}

// Every number of a page that is not worked out stands in the API's answer, to the token and the nano-dollar.
func TestEveryNumberStandsInTheAnswerOfTheAPI(t *testing.T) {
	m := session()
	s := m.stories[0]
	m.wrong = slices.Repeat([]event.Exchange{s.Exchanges[94]}, 23)
	for path, answers := range map[string][]any{
		"/-/":                       {m.summary, s.Conversation, m.wrong},
		"/-/conversations":          {s.Conversation, 1},
		addresses["conversation"]:   {s, m.edits["decision-100"]},
		"/-/exchanges/60":           {s.Exchanges[59], m.edits["decision-60"]},
		"/-/exchanges/66":           {s.Exchanges[65], m.edits["decision-66"]},
		"/-/exchanges/91":           {s.Exchanges[90], m.edits["decision-91"]},
		"/-/exchanges/60/edits/70":  {s.Exchanges[59], m.edits["decision-60"]},
		"/-/exchanges/29":           {s.Exchanges[28], m.edits["decision-29"]},
		"/-/conversations?match=no": {0},
	} {
		known := numbersOf(t, answers...)
		_, page := get(t, m, path, true)
		shown := 0
		eachDatum(t, page, func(value, made string) {
			shown++
			if v, err := strconv.ParseFloat(value, 64); err != nil {
				t.Errorf("%s: %q is no number", path, value)
			} else if made == "" && !known[strconv.FormatFloat(v, 'f', -1, 64)] {
				t.Errorf("%s: %s stands in no answer of the API", path, value)
			}
		})
		if shown == 0 {
			t.Errorf("%s shows no number", path)
		}
	}
}

func eachDatum(t *testing.T, page string, each func(value, made string)) {
	t.Helper()
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		token := z.Token()
		if token.Type != html.StartTagToken || token.Data != "data" {
			continue
		}
		var value, made string
		for _, a := range token.Attr {
			switch a.Key {
			case "value":
				value = a.Val
			case "data-made":
				made = a.Val
			}
		}
		each(value, made)
	}
}

// What is worked out is what its formula says.
func TestNumbersThatAreWorkedOutFollowTheirFormula(t *testing.T) {
	m := session()
	e := m.stories[0].Exchanges[49]
	want := map[string]float64{
		"tokens_before":                float64(e.TokensBefore.Total()),
		"tokens_after":                 float64(e.TokensAfter.Total()),
		"usage.read/usage.input":       float64(e.Usage.Read) / float64(e.Usage.Input),
		"bill.raw_nano-bill.sent_nano": float64(e.Bill.Saved()),
	}
	_, page := get(t, m, addresses["conversation"]+"?before=51", true)
	row := page[strings.Index(page, `exchanges/50">50</a>`):]
	row = row[:strings.Index(row, "</tr>")]
	found := 0
	eachDatum(t, row, func(value, made string) {
		if v, err := strconv.ParseFloat(value, 64); made != "" && (err != nil || math.Abs(v-want[made]) > 1e-4) {
			t.Errorf("%s is %s, want %g", made, value, want[made])
		} else if made != "" {
			found++
		}
	})
	if found != len(want) || e.Action == event.ActionNone {
		t.Errorf("%d numbers of the row are worked out, want %d", found, len(want))
	}
}

// What the cache had stands beside what it could have had, both as the provider counts.
func TestMissesAreToldInTokensOfTheProvider(t *testing.T) {
	m := session()
	for _, turn := range []int{88, 89} {
		m.stories[0].Exchanges[turn-1].Usage.Input *= 2
	}
	_, page := get(t, m, addresses["conversation"], true)
	_, row, _ := strings.Cut(page, `exchanges/89">89</a>`)
	row, _, _ = strings.Cut(row, "</tr>")
	if !strings.Contains(row, `value="170600"`) || m.stories[0].Exchanges[88].HeldAfter != 85_300 {
		t.Errorf("the row is %s", row)
	}
	m.stories[0].Exchanges[88].Usage.CacheUnknown = true
	says(t, m, addresses["conversation"], true, "89 unknown 171k")
}
