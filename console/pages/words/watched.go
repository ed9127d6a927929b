package words

import (
	"fmt"
	"strings"

	"epitome/event"
)

// Watched reports whether a request was only observed: it was sent as it came, whatever its event says of a form.
func Watched(e event.Exchange) bool { return e.Mode == event.ModeObserve }

// mostStretches bounds how many stretches of observed turns a page names.
const mostStretches = 6

// WatchedTurns names the turns that were only observed, and says whether all were.
func WatchedTurns(turns []event.Exchange) (words string, all bool) {
	var stretches []string
	count := 0
	for i := 0; i < len(turns); i++ {
		if !Watched(turns[i]) {
			continue
		}
		first := i
		for i+1 < len(turns) && Watched(turns[i+1]) {
			i++
		}
		count += i - first + 1
		one := fmt.Sprint(turns[first].Turn)
		if i > first {
			one = fmt.Sprintf("%d to %d", turns[first].Turn, turns[i].Turn)
		}
		stretches = append(stretches, one)
	}
	if len(stretches) > mostStretches {
		stretches = append(stretches[:mostStretches], "others")
	}
	return strings.Join(stretches, ", "), count > 0 && count == len(turns)
}
