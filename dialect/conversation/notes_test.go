package conversation

import (
	"strings"
	"testing"
)

// However many notes a client has put before the user's words, none of them counts as the user's.
func TestManyNotesAreNoWordsOfTheUser(t *testing.T) {
	got := withoutNotes(strings.Repeat("<system-reminder>be careful</system-reminder>\n", 10_000) + "do this")
	if strings.TrimSpace(got) != "do this" {
		t.Errorf("the user's are %.100q", got)
	}
}
