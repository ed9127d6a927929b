package calendar

import "testing"

func TestLate(t *testing.T) {
	due := Must("2026-02-10")
	spans := []Span{{Must("2026-02-20"), Must("2026-02-25")}, {Must("2026-02-24"), Must("2026-03-01")}}
	for _, test := range []struct {
		today string
		spans []Span
		want  int
	}{
		{"2026-02-01", nil, 0},
		{"2026-02-10", nil, 0},
		{"2026-02-11", nil, 1},
		{"2026-03-10", nil, 28},
		{"2026-02-19", spans, 9},
		{"2026-02-20", spans, 9},
		{"2026-03-01", spans, 9},
		{"2026-03-02", spans, 10},
	} {
		if got := Late(due, Must(test.today), test.spans); got != test.want {
			t.Errorf("Late until %s with %d spans = %d, want %d", test.today, len(test.spans), got, test.want)
		}
	}
}

func TestCut(t *testing.T) {
	march := Span{Must("2026-03-01"), Must("2026-03-31")}
	if got := (Span{Must("2026-02-20"), Must("2026-03-04")}).Cut(march).Days(); got != 4 {
		t.Errorf("%d days, want 4", got)
	}
	if got := (Span{Must("2026-02-20"), Must("2026-02-24")}).Cut(march).Days(); got != 0 {
		t.Errorf("%d days, want 0", got)
	}
}
