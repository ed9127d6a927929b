package plan

import (
	"slices"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/history/action"
	"epitome/rewrite/outline"
)

// ReadsLog reports whether a result shows, as a file, what programs wrote as they ran: what it says of errors is what
// went wrong. A file whose name says what it holds is none.
func ReadsLog(a *action.Action, text string) bool {
	return (a.Kind == action.Reading || a.OnlyFiles) && !slices.ContainsFunc(a.Reads, outline.IsNamed) &&
		excerpt.IsLog(text)
}

// showsLog reports whether a result shows a log, which a command may print that changes nothing.
func showsLog(a *action.Action, text string) bool {
	return ReadsLog(a, text) || a.Kind == action.Shell && !a.OnlyFiles && excerpt.IsLog(text)
}
