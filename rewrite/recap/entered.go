package recap

import "strings"

// headEntered stands above the beginning of a command that rows below it do not repeat.
const headEntered = "… stands for:"

// entered tells once, above rows of commands, the folder that most of them enter first, where three or more do.
func entered(rows string) string {
	const fewest = 3
	if strings.HasPrefix(rows, "… ") || strings.Contains(rows, "\n… ") {
		return rows
	}
	times, best := map[string]int{}, ""
	for l := range strings.Lines(rows) {
		entry, rest, _ := strings.Cut(l, " && ")
		isTorn := strings.Count(entry, `"`)%2+strings.Count(entry, "'")%2 > 0 // its sign stands in quotes
		if !strings.HasPrefix(entry, "cd ") || isTorn || strings.ContainsAny(entry, ";|&") || strings.TrimSpace(rest) == "" {
			continue
		}
		if times[entry]++; times[entry] > times[best] {
			best = entry
		}
	}
	if times[best] < fewest {
		return rows
	}
	best += " && "
	var s strings.Builder
	s.WriteString(headEntered + "\n" + strings.TrimRight(best, " ") + "\n")
	for l := range strings.Lines(rows) {
		if rest, is := strings.CutPrefix(l, best); is && strings.TrimSpace(rest) != "" {
			l = "… " + rest
		}
		s.WriteString(l)
	}
	return s.String()
}
