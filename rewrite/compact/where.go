package compact

import (
	"fmt"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// whereAll says where the transcripts with these names are, which messages each holds, and what can be done with them.
func whereAll(c *compaction, list []conversation.Group, names []string) string {
	all := make([]string, len(names))
	isMute := false
	for k, name := range names {
		if all[k] = plan.AddressOf(c.P, name); all[k] == "" {
			isMute = true
		}
	}
	if isMute {
		copy(all, names)
	}
	if len(names) == 1 {
		switch {
		case isMute:
			return "Kept as artifact " + all[0] + ", which you cannot read from here"
		case plan.IsURL(all[0]):
			return "All of it is in " + all[0] + ". Fetch it and search it: it is long"
		case c.P.Case.ByTool:
			return "All of it is " + all[0] + ". Search it with " + plan.Tool + ", or read some of its lines"
		}
		if c.P.Case.IsUnread() {
			return "All of it is in " + all[0] + plan.Unread
		}
		return "All of it is in " + all[0] + ". Search it with grep, or read some of its lines"
	}
	isFetched := plan.IsURL(all[0])
	for k, g := range list {
		all[k] = fmt.Sprintf("messages %d-%d in %s", plan.NumberOf(c.P, g.First), plan.NumberOf(c.P, g.End-1), all[k])
	}
	switch where := strings.Join(all, ", "); {
	case isMute:
		return "Kept as artifacts, which you cannot read from here: " + where
	case c.P.Case.ByTool:
		return "All of it is there: " + where + ". Search them with " + plan.Tool + ", or read some of their lines"
	case isFetched:
		return "All of it is there: " + where + ". Fetch them and search them: they are long"
	case c.P.Case.IsUnread():
		return "All of it is there" + plan.Unread + ": " + where
	default:
		return "All of it is there: " + where + ". Search them with grep, or read some of their lines"
	}
}
