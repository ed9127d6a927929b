package journal

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A figure that no document names is shown to nobody, and a sum without a figure is always 0.
func TestEachFigureIsSummedUpAndDocumented(t *testing.T) {
	summed := map[string]bool{}
	keysOf(reflect.TypeFor[Sums](), summed)
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### Sums\n")
	section, _, _ = strings.Cut(section, "\n#")
	keys := map[string]bool{}
	for _, found := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(section, -1) {
		keys[found[1]] = true
	}
	for _, f := range Figures {
		isSum := f.Share == nil
		if isSum && !keys[f.Key[strings.LastIndex(f.Key, ".")+1:]] {
			t.Errorf("docs/operations.md does not name the figure %s", f.Key)
		}
		delete(summed, f.Key)
	}
	if len(summed) > 0 {
		t.Errorf("no figure fills the sums %q", slices.Sorted(maps.Keys(summed)))
	}
}

// keysOf adds the keys of the numbers in a struct.
func keysOf(of reflect.Type, keys map[string]bool) {
	for i := range of.NumField() {
		f := of.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch f.Type.Kind() {
		case reflect.Int64:
			keys[key] = true
		case reflect.Struct:
			within := map[string]bool{}
			keysOf(f.Type, within)
			for name := range within {
				keys[key+"."+name] = true
			}
		}
	}
}
