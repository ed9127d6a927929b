package csvx

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	for line, want := range map[string][]string{
		"a; b ;c":            {"a", "b", "c"},
		`"a;b";"say ""x""";`: {"a;b", `say "x"`, ""},
		"":                   {""},
	} {
		if got, err := Fields(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
	}
	for _, line := range []string{`"a`, `"a"b;c`} {
		if got, err := Fields(line); !errors.Is(err, ErrQuote) {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
}

func TestRead(t *testing.T) {
	var names []string
	err := Read(strings.NewReader("no;name\n1;\"one; and\"\n\n2;two\n"), func(r Row) error {
		names = append(names, r["no"]+r["name"])
		return nil
	})
	if err != nil || !slices.Equal(names, []string{"1one; and", "2two"}) {
		t.Errorf("%q, %v", names, err)
	}
	if err := Read(strings.NewReader("no;name\n1\n"), nil); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}
