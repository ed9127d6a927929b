package excerpt

import (
	"regexp"
	"slices"
	"strings"

	"epitome/rewrite/mark"
)

// What Failure shows at most.
const (
	failureLines = 6
	failureBytes = 720
	longestShown = 400 // bytes of a line
)

// beside matches what belongs to a failure near it: what was wanted and what came, and the place.
var beside = regexp.MustCompile(`(?i)^[>|#\s]*(?:[-+] ?\S|(?:left|right|want|wanted|got|expected|received|actual|caused by)\b)|` +
	`[\w/)]\.\w+["']?(?:[:(]| line )\d|\bline \d|-->`)

// Failure returns the failure that an output reports, as its own lines: the message, what was expected and what came,
// and the place. It is empty if no line speaks of one.
func Failure(text string) string {
	x := read(text, 0, nil)
	order := x.order()
	if len(order) == 0 || !x.shape[order[0]].fails {
		return ""
	}
	best := order[0]
	heading := x.heading(best)
	near := []int{best, heading, best - 1, best - 2}
	for k := 1; k <= 12; k++ {
		near = append(near, best+k)
	}
	near = append(near, best-3, best-4)
	var kept []int
	room := failureBytes
	for _, k := range near {
		if k < 0 || k >= len(x.lines) {
			continue
		}
		l := strings.TrimSpace(x.lines[k])
		tells := k == best || k == heading || x.shape[k].fails || beside.MatchString(x.lines[k])
		if !tells || l == "" || len(l) > min(longestShown, room) || mark.IsForged(l) || slices.Contains(kept, k) {
			continue
		}
		if kept = append(kept, k); len(kept) == failureLines {
			break
		}
		room -= len(l)
	}
	slices.Sort(kept)
	var b strings.Builder
	for _, k := range kept {
		b.WriteString(strings.TrimSuffix(x.lines[k], "\n") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
