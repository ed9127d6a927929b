package cli

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/dustin/go-humanize"

	"epitome/console"
	"epitome/event/journal"
	"epitome/internal/fakeapi"
)

// agree fails the script unless the last lines of a demo, which its model has counted in part, have the same numbers as
// the API, the stats, the status line and the pages of its epitome.
func (s *stage) agree(args []string) {
	demo, folder, pages := s.ReadFile(args[0]), args[1], args[2]
	ask := func(command ...string) string {
		s.Check(s.Exec("epitome", append([]string{"--data", folder}, command...)...))
		return s.ReadFile("stdout")
	}
	var report journal.Report
	s.Check(json.Unmarshal([]byte(ask("stats", "--json")), &report))
	all, money := report.Total, report.Total.Money
	if money.Oversized == 0 || money.Compared == 0 || money.Saved == 0 || money.Compared+money.Oversized != all.Exchanges {
		s.Fatalf("the session shows nothing: %+v", money)
	}
	stats, line := ask("stats"), ask("status", "--line")
	overview := s.page(pages)
	path := s.pattern(`/-/conversations/[0-9a-f]+`).FindString(overview)
	conversation := s.page(strings.TrimSuffix(pages, "/-/") + path)
	comma, saved, cost := humanize.Comma, console.Dollars(money.Saved), console.Dollars(money.Raw)
	tokens := console.Tokens(all.TokensBefore) + " → " + console.Tokens(all.TokensAfter)
	fitting := fmt.Sprintf("%d requests that fit: %s without epitome, %s with it", money.Compared, cost, console.Dollars(money.Sent))
	for _, want := range []struct{ where, text, pattern string }{
		{"the demo", demo, fmt.Sprintf(`turns answered .* %d of %d\n`, all.Exchanges, all.Exchanges)},
		{"the demo", demo, `all requests, tokens +` + comma(all.TokensBefore) + ` .* ` + comma(all.TokensAfter) + ` `},
		{"the demo", demo, fmt.Sprintf(`would have failed +%d requests +0 requests`, money.Oversized)},
		{"the demo", demo, fmt.Sprintf(`cost of the %d that fit +%s +%s, saved %s\n`, money.Compared,
			regexp.QuoteMeta(cost), regexp.QuoteMeta(console.Dollars(money.Sent)), regexp.QuoteMeta(saved))},
		{"the demo", demo, fmt.Sprintf(`billed for all %d requests .* %s\n`, all.Exchanges,
			regexp.QuoteMeta(console.Dollars(money.Billed)))},
		{"stats", stats, fmt.Sprintf(`all +%d +0 .*%s +%s.* %s +%s *\n`, all.Exchanges, console.Tokens(all.TokensBefore),
			console.Tokens(all.TokensAfter), regexp.QuoteMeta(console.Dollars(money.Billed)), regexp.QuoteMeta(saved))},
		{"stats", stats, regexp.QuoteMeta(fitting) + `\.`},
		{"stats", stats, fmt.Sprintf(`%d requests larger than the window`, money.Oversized)},
		{"status", line, fmt.Sprintf(`%s saved on %d requests that fit · %d requests larger than the window`,
			regexp.QuoteMeta(saved), money.Compared, money.Oversized)},
	} {
		s.says(want.where, want.text, want.pattern)
	}
	for where, page := range map[string]string{"the overview": overview, "the conversation": conversation} {
		for _, want := range []string{tokens, fitting, ">" + saved + "<", ">" + console.Dollars(money.Billed) + "<",
			fmt.Sprintf("%d requests; billed: %s", money.Oversized, console.Dollars(money.OversizedBilled)),
			fmt.Sprintf("%d turns", all.Exchanges)} {
			s.says(where, page, regexp.QuoteMeta(want))
		}
	}
}

// says fails the script unless a text matches.
func (s *stage) says(where, text, pattern string) {
	if !s.pattern(pattern).MatchString(text) {
		s.Fatalf("%s has no %#q in:\n%s", where, pattern, text)
	}
}

// page returns a page as a visitor without a login sees it.
func (s *stage) page(url string) string {
	resp, err := fakeapi.Direct().Get(url)
	s.Check(err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	s.Check(err)
	return html.UnescapeString(string(text))
}
