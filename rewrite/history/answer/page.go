package answer

import (
	"strings"

	"epitome/pattern"
)

// pageForms find the lines in which tools that drive a browser say where it stands, and what the page calls out:
//
//   - Playwright's server: "- Page URL: https://shop.example/cart", "- Page Title: Cart", and in the tree of the page
//     "- alert [ref=e13]: Quantity exceeds the limit", "- dialog "Delete order?" [ref=e40]"
//   - that of Chrome's developer tools: `uid=1_0 RootWebArea "Cart" url="https://shop.example/cart"`,
//     `uid=1_7 alert "Quantity exceeds the limit"`
//   - those that write the tree as BrowserGym does: "url: https://shop.example/cart", "RootWebArea 'Cart', focused",
//     "[7] alert 'Quantity exceeds the limit'"
var (
	placeForm = pattern.Of(`^(?:- Page (?:URL|Title): \S|url: https?://\S|(?:uid=\S+ )?RootWebArea (?:"|'[^']))`)
	alertForm = pattern.Of(`^(?:- (?:alert|alertdialog|dialog)\b[^:"]*(?:"|: \S)|` +
		`(?:uid=\S+|\[\w+\]) (?:alert|alertdialog|dialog) (?:"|'[^']))`)
)

// Page returns the lines of an answer in which a tool that drives a browser says where it stands, and what the page
// calls out, each without the white space around it; none if the tool does not say where.
func Page(text string) (lines []string) {
	const most, mostAlerts = 4, 2
	holds := func(sign string) bool { return strings.Contains(text, sign) }
	if len(text) > longest || !holds("Page URL: ") && !holds(`RootWebArea "`) && !holds("RootWebArea '") {
		return nil
	}
	places, alerts := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case placeForm.MatchString(line):
			if places++; places > most-mostAlerts {
				continue
			}
		case places > 0 && alertForm.MatchString(line):
			if alerts++; alerts > mostAlerts {
				continue
			}
		default:
			continue
		}
		lines = append(lines, line)
	}
	if places == 0 {
		return nil
	}
	return lines
}

// titleForm finds the line that has the title of a page of the web, in Markdown or HTML.
var titleForm = pattern.Of(`^# \S|<title>[^<]*\w`)

// Title returns the first line of a page of the web that has its title, without the white space around it; empty if
// there is none near its beginning.
func Title(text string) string {
	const near = 16 << 10 // bytes
	for line := range strings.SplitSeq(text[:min(len(text), near)], "\n") {
		if line = strings.TrimSpace(line); titleForm.MatchString(line) {
			return line
		}
	}
	return ""
}
