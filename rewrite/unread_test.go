package rewrite

import (
	"strings"
	"testing"

	"epitome/prose"
)

// An agent of whose tools none reads files is not told to search in one. Where it lies is said all the same.
func TestAnAgentWithoutReadersIsNotToldToRead(t *testing.T) {
	const unread = ", which none of your tools is known to read"
	f := func(want bool, tools string) {
		t.Helper()
		a := readable(1_000_000)
		a.tools = tools
		text := result(t, a, "get_orders", `{"day":7}`, listed("order", 400))
		s, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		s.tools = tools
		s.work(4, 300)
		out, _ := s.grow(t, 400)
		summary, _ := summaryIn(t, out)
		for _, told := range []string{text, summary} {
			if isUnread := strings.Contains(told, ".txt"+unread); isUnread != want || want == (strings.Contains(told, " with grep") || strings.Contains(told, "; grep it")) {
				t.Errorf("with %q nothing is told to read: %v\n%.2000s", tools, isUnread, told)
			}
		}
	}
	f(true, `"tools":[`+declared("get_orders")+","+declared("refund")+"],")
	f(false, `"tools":[`+declared("get_orders")+","+declared("bash")+"],")
	f(false, `"tools":[],`)
	f(false, "")
}
