package money

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Amount{"1250.00": 125000, "7.5": 750, "-3": -300, "0.09": 9} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "1.", "1.234", "x", "1,5"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %d, want an error", text, got)
		}
	}
}

func TestRound(t *testing.T) {
	exact := Amount(123450).Times(Percent(75)) // 925.875 cents
	for step, want := range map[Amount][2]Amount{1: {925, 926}, 5: {925, 925}, 10: {920, 930}} {
		if down, near := exact.Floor(step), exact.HalfUp(step); down != want[0] || near != want[1] {
			t.Errorf("step %d: %d and %d, want %d", step, down, near, want)
		}
	}
}
