package config

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"
)

// The schema accepts what the program reads, and refuses what it does not: unknown keys, values of another type, and
// words that are none of a few.
func TestSchemaAcceptsWhatIsRead(t *testing.T) {
	starter, err := os.ReadFile("../cli/starter.toml")
	if err != nil {
		t.Fatal(err)
	}
	reference := configToml()
	var schema jsonschema.Schema
	if err := json.Unmarshal(Schema(reference), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	accepts := func(file string) bool {
		t.Helper()
		var table any
		if err := toml.Unmarshal([]byte(file), &table); err != nil {
			t.Fatalf("%v in %s", err, file)
		}
		asJSON, _ := json.Marshal(table) // which has no time
		var instance any
		_ = json.Unmarshal(asJSON, &instance)
		return resolved.Validate(instance) == nil
	}
	if !accepts(reference) || !accepts(uncommented()) || !accepts(string(starter)) {
		t.Error("the schema refuses config.toml, with or without its examples, or the starter")
	}
	keys := keysOf(reference)
	values := []string{"true", "1", "0", "0.5", "-1", `""`, `"text"`, `"1GB"`, `"90s"`, `"32k"`, `"on"`, `"auto"`, `"high"`,
		`"info"`, "[]", `["a"]`, "[1]", "{}", `{ a = "b" }`, "{ a = 1 }", "{ a = true }", `{ a = "32k" }`}
	tried := 0
	for _, key := range append(keys, "rewrite.clear", "listn", "upstreams.NAME.key") {
		table, name := "", key
		if at := strings.LastIndexByte(key, '.'); at >= 0 {
			table, name = key[:at], key[at+1:]
		}
		header := "[" + strings.Replace(table, "NAME", "a", 1) + "]\n"
		switch {
		case table == "":
			header = ""
		case table == "routes", table == "rewrite.tools":
			header = "[" + header[:len(header)-1] + "]\n"
		}
		for _, value := range values {
			file := header + name + " = " + value + "\n"
			reads := new(Config).decode("", []byte(file)) == nil
			if list := choices[key]; reads && list != nil {
				reads = slices.Contains(list, strings.Trim(value, `"`))
			}
			if got := accepts(file); got != reads {
				t.Errorf("read: %t, by the schema: %t\n%s", reads, got, file)
			}
			tried++
		}
	}
	if tried < 1_500 {
		t.Errorf("only %d values were tried", tried)
	}
}
