package baselines

// The lines of truncation, as shares of the window.
const (
	truncateAt = 0.95
	truncateTo = 0.5
)

// truncation drops the oldest groups behind the head when a request comes near the window.
func truncation(window int) baseline {
	at, to := truncateAt*float64(window), truncateTo*float64(window)
	cut := 0 // what lies before it is dropped
	return func(t *thread) {
		if float64(t.total) <= at {
			return
		}
		for cut = max(cut, t.head); cut < len(t.all) && float64(t.total) > to; {
			end := t.groupEnd(cut)
			t.drop(cut, end, none)
			cut = end
		}
	}
}
