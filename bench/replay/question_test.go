package replay

import (
	"strings"
	"testing"
)

func TestAnswersStandBehindTheirName(t *testing.T) {
	for _, c := range []struct {
		question, expected, text string
		want                     bool
	}{
		{"What is slot-1-3?", "amber", "slot-1-2=red; slot-1-3=amber", true},
		{"What is slot-1-3?", "amber", "slot-1-3=red; slot-1-2=amber", false},
		{"What is slot-1-3?", "amber", "slot-1-3, of box-4, is amber", true}, // another family
		{"What is slot-1-3?", "amber", "slot-1-3x=amber", false},
		{"What is slot-1-3?", "amber", "red, amber, blue", false},
		{"What is slot-1-3?", "amber", `{"content":"slot-1-2=red\nslot-1-3=amber"}`, true},
		{"What is slot-1-3?", "amber", "amber; slot-1-3=amber", true}, // not at the first place
		{"What is slot-1-3?", "amber", "slot-1-3=" + strings.Repeat("é", 191) + "amber", true},
		{"What is slot-1-3?", "amber", "slot-1-3=" + strings.Repeat("é", 192) + "amber", false},
		{"Which port has the database?", "5413", "Databases listen on 5413.", true},
		{"Which port has the database?", "5413", "5413 is the port", true},
		{"Which port has the database?", "5413", "It was 5413 again.", false},
		{"What is the exact value?", "5413", "the exact value 5413", false}, // no word that tells anything
		{"Which port has the base?", `"a\b"`, `{"content":"the port is \"a\\b\""}`, true},
		{"Is the port 5413?", "5413", `{"content":"Is the port 5413?"}`, false},
		{"Is the port 5413?", "5413", `{"content":"Is the port 5413? Yes, port 5413."}`, true},
	} {
		q := question{c.question, c.expected}
		if got := q.isAnsweredBy(unescaped([]byte(c.text))); got != c.want {
			t.Errorf("%s %s in %.60q: got %v, want %v", c.question, c.expected, c.text, got, c.want)
		}
	}
}
