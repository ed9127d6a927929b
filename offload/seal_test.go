package offload

import (
	"errors"
	"strings"
	"testing"
)

func TestSealedTextIsOpenedInItsScopeAlone(t *testing.T) {
	text := strings.Repeat("The key is 41. ", 2_000)
	sealed, err := Seal("name", "ann", []byte(text))
	if err != nil || !strings.HasPrefix(sealed, SealMark) || len(sealed) > len(text)/10 || strings.Contains(sealed, "key") {
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

// No text is sealed that cannot be opened.
func TestLongTextIsSealedOnlyIfItOpens(t *testing.T) {
	for _, size := range []int{mostSealed - len("ann") - 1, mostSealed - len("ann"), 2 * mostSealed} {
		sealed, err := Seal("name", "ann", make([]byte, size))
		if err == nil {
			_, err = Open("name", "ann", sealed)
		}
		if isLong := size >= mostSealed-len("ann"); (err != nil) != isLong || errors.Is(err, ErrOtherSecret) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
