package recall

import (
	"encoding/json"
	"strings"
	"testing"
)

var nameA, nameB = strings.Repeat("a", 26), strings.Repeat("b", 26)

func TestTheSchemaIsThatOfTheArguments(t *testing.T) {
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
	all, _ := json.Marshal(recallInput{Artifact: "a", Lines: "b", Grep: "c", From: 1, Path: "d"})
	var input map[string]any
	if err := json.Unmarshal(all, &input); err != nil {
		t.Fatal(err)
	}
	for key := range input {
		if schema.Properties[key] == nil {
			t.Errorf("the schema lacks %s", key)
		}
	}
	if len(input) != len(schema.Properties) {
		t.Errorf("the schema has %d properties, the arguments %d", len(schema.Properties), len(input))
	}
}

// Whatever a model writes is answered, within a bound and in words that help.
func TestACallIsAlwaysAnswered(t *testing.T) {
	large := strings.Repeat("a line of many\n", 8<<20/15) + strings.Repeat("a", 1<<20) + "\n"
	s := shelf{nameA: large, nameB: `{"a":[1,2]}`}
	f := func(arguments, want string) {
		t.Helper()
		got := Answer(s, arguments)
		if !strings.Contains(got, want) || len(got) > mostAnswer+500 {
			t.Errorf("%s: %d bytes, %.300s", arguments, len(got), got)
		}
	}
	f(`{"artifact":"`+nameA+`","lines":"7"}`, "a line of many")
	f(`{"artifact":"`+nameA+`"}`, "there is more")
	f(`{"artifact":"`+nameA+`","grep":"(a|aa)+ line"}`, "a line")
	f(`{"artifact":"`+nameA+`","grep":"("}`, "[epitome: ")
	f(`{"artifact":"`+nameA+`","grep":"(((a{1000}){1000}){1000})"}`, "[epitome: ")
	f(`{"artifact":"`+nameB+`","path":"a.1"}`, "2")
	f(`{"artifact":"`+strings.Repeat("q", 26)+`"}`, "[epitome: ")
	f(`{"artifact":"`+nameA[:20]+`"}`, "names no artifact")
	f(`{"artifact":"../../etc/passwd"}`, "names no artifact")
	f(`{}`, "names no artifact")
	f(``, "the arguments are none of this tool's")
	f(`{"artifact":7}`, "the arguments are none of this tool's")
	f(`[]`, "the arguments are none of this tool's")
	f(`{"artifact":"`+nameA+`","lines":"9-1"}`, "[epitome: ")
}
