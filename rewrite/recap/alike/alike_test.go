package alike

import "testing"

func TestFailuresAreAlikeButForNumbersAndTheirOwnWords(t *testing.T) {
	f := func(want bool, own, line string) {
		t.Helper()
		is := func(own, line string) string {
			return (&Failure{Program: []string{"get_user"}, Ending: "failed", Own: []string{own}}).Kind([]string{line})
		}
		if (is("id: ana_7", "user ana_7 not found, 3 tries") == is(own, line)) != want {
			t.Errorf("%s, %s: alike: %v", own, line, !want)
		}
	}
	f(true, "id: leo_2", "user leo_2 not found, 14 tries")
	f(false, "id: leo_2", "user ana_7 is locked")
	f(false, "id: leo_2", "user max_1 not found, 14 tries")
}

func TestLookIsThatOfATextButForNumbers(t *testing.T) {
	f := &Failure{Program: []string{"pay"}, Ending: "failed"}
	if f.Look(`{"error": "over 100"}`) != f.Look(`{"error": "over 250"}`) ||
		f.Look(`{"error": "over 100"}`) == f.Look(`{"error": "under 100"}`) {
		t.Error("numbers count, or words do not")
	}
}
