package offload

import (
	"errors"
	"strings"
	"testing"
)

func TestSealedTextIsOpenedInItsScopeAlone(t *testing.T) {
	text := strings.Repeat("The key is 41. ", 2_000)
	sealed := Seal("name", "ann", []byte(text))
	if !strings.HasPrefix(sealed, SealMark) || len(sealed) > len(text)/10 || strings.Contains(sealed, "key") {
		t.Errorf("sealed as %.40s… of %d bytes", sealed, len(sealed))
	}
	f := func(name, scope, sealed string, want error) {
		t.Helper()
		got, err := Open(name, scope, sealed)
		if !errors.Is(err, want) || (string(got) == text) != (want == nil) {
			t.Errorf("got %d bytes, %v; want %v", len(got), err, want)
		}
	}
	f("name", "ann", sealed, nil)
	f("name", "bob", sealed, ErrOtherScope)
	f("other", "ann", sealed, ErrOtherSecret)
	f("name", "ann", sealed[:len(sealed)-8], ErrOtherSecret)
	f("name", "ann", sealed[:40]+"A"+sealed[41:], ErrOtherSecret)
	f("name", "ann", SealMark, ErrOtherSecret)
	f("name", "ann", "~", ErrOtherSecret)
}
