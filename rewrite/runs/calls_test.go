package runs

import (
	"fmt"
	"strings"
	"testing"
)

// TestCallsOfVeryManyArgumentsAreBounded: what is compared of calls is bounded, whatever differs in them.
func TestCallsOfVeryManyArgumentsAreBounded(t *testing.T) {
	list, texts := make([]call, 3), make([]string, 3)
	for k := range list {
		var b strings.Builder
		for i := range 2_000 {
			fmt.Fprintf(&b, `,"argument_%d":%d`, i, k)
		}
		list[k] = call{text: "same", arguments: []byte("{" + b.String()[1:] + "}")}
	}
	addDiffering(list, texts)
	for k, s := range texts {
		if !strings.Contains(s, fmt.Sprintf("(argument_0 %d)", k)) || len(s) > mostCompared+10*mostOfValue {
			t.Errorf("of call %d %d bytes are compared: %.80s", k, len(s), s)
		}
	}
}
