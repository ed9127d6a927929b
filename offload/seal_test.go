package offload

import (
	"strings"
	"testing"
)

func TestSealedTextIsOpenedUnderItsNameAlone(t *testing.T) {
	text := strings.Repeat("The key is 41. ", 2_000)
	sealed, err := Seal("name", []byte(text))
	if err != nil || !strings.HasPrefix(sealed, SealMark) || len(sealed) > len(text)/10 || strings.Contains(sealed, "key") {
		t.Errorf("sealed as %.40s… of %d bytes", sealed, len(sealed))
	}
	f := func(name, sealed string, opens bool) {
		t.Helper()
		got, err := Open(name, sealed)
		if (err == nil) != opens || (string(got) == text) != opens {
			t.Errorf("got %d bytes, %v; opens should be %v", len(got), err, opens)
		}
	}
	f("name", sealed, true)
	f("other", sealed, false)
	f("name", sealed[:len(sealed)-8], false)
	other := map[bool]string{true: "A", false: "B"}[sealed[40] != 'A']
	f("name", sealed[:40]+other+sealed[41:], false)
	f("name", SealMark, false)
	f("name", "~", false)
}

// No text is sealed that cannot be opened.
func TestLongTextIsSealedOnlyIfItOpens(t *testing.T) {
	for _, size := range []int{mostSealed, mostSealed + 1} {
		sealed, err := Seal("name", make([]byte, size))
		if (err != nil) != (size > mostSealed) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if err == nil {
			if _, err := Open("name", sealed); err != nil {
				t.Errorf("%d bytes are sealed and not opened: %v", size, err)
			}
		}
	}
}
