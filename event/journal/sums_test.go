package journal

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// A sum that no document names is known to nobody.
func TestEachSumIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### Sums\n")
	section, _, _ = strings.Cut(section, "\n#")
	documented := map[string]bool{}
	for _, found := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(section, -1) {
		documented[found[1]] = true
	}
	summed := map[string]bool{}
	keysOf(reflect.TypeFor[Sums](), summed)
	for key := range summed {
		if !documented[key] {
			t.Errorf("docs/operations.md does not name the sum %s", key)
		}
	}
}

// keysOf adds the keys of the numbers in a struct, and in those within it.
func keysOf(of reflect.Type, keys map[string]bool) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Type.Kind() == reflect.Struct {
			keysOf(f.Type, keys)
		} else {
			keys[f.Tag.Get("json")] = true
		}
	}
}
