package spoken

import (
	"fmt"
	"testing"
)

func TestFormsAreOfTextsThatDifferInNamesAlone(t *testing.T) {
	f := func(one, other string, want bool) {
		t.Helper()
		if got := formOf(one) == formOf(other); got != want {
			t.Errorf("%q and %q are alike: %v", one, other, got)
		}
	}
	f("Triage DESK-4101.", "Triage DESK-4102.", true)
	f("Next: test/rates.test.js fails.", "Next: test/zones.test.js fails.", true)
	f("Translate row 7 now", "Translate row 8 now", true)
	f("Read a/b.go and mend it", "Read a/b.go c/d.go and mend it", true)
	f("Triage DESK-4101.", "Close DESK-4101.", false)
	f("Triage DESK-4101.", "triage DESK-4101.", false)
	f("Mend the zones.", "Mend the rates.", false)
	f("Never push 7", "push 7", false)
	f("Do _not_ close DESK-1", "Do _really_ close DESK-2", false)
	f("处理工单17。", "处理工单18。", true)
	f("处理工单17。", "不要处理工单17。", false)
	f("チケットDESK-17を閉じて", "チケットDESK-18を閉じないで", false)
	f("Закрой заявку-17", "Открой заявку-17", false)
}

// said are messages of the agent's, the newest first.
func said(texts ...string) (all []*remark) {
	for k, text := range texts {
		m := &remark{text: text, isAnswer: true, age: k, left: mostOfAnswer}
		m.read()
		all = append(all, m)
	}
	return all
}

// Of what is said of one thing after the other a few are told, and before the rest of them what is said of one alone.
func TestWhatIsSaidOncePrecedesWhatIsSaidOfEach(t *testing.T) {
	const odd = "Ticket DESK-4017 belongs to Ines Falk, as Aurora Clinics is down."
	var texts []string
	for k := range 60 {
		texts = append(texts, fmt.Sprintf("DESK-%d is S4 and went to billing: VAT %d %% instead of 19 %%.", 4200-k, k))
	}
	all := said(append(texts, odd)...)
	noteAlike(all)
	list, at := byWorth(all), -1
	for k, q := range list {
		if q.text() == odd {
			at = k
		}
	}
	if at < 0 || at > 8 {
		t.Errorf("what was said once comes at place %d of %d", at, len(list))
	}
	if n := len(list) - 1; n != mostAlike {
		t.Errorf("%d of one form may be told, want %d", n, mostAlike)
	}
}

func TestTextsOfTheirOwnWordsHaveNoForm(t *testing.T) {
	all := said("The pool locks the database.", "Refunds in CLP are off.", "Keyset paging would help here.", "CI runs node 22.4.1.")
	noteAlike(all)
	for _, m := range all {
		for _, q := range m.sentences {
			if q.newer != 0 {
				t.Errorf("%q has %d newer ones like it", q.text(), q.newer)
			}
		}
	}
}
