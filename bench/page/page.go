// Package page shows the report of a replay as one HTML page with charts.
//
// It promises that the page needs nothing else, that one report makes one page to the byte, and that no text of a
// conversation or of a policy's name becomes a part of the page's code.
package page

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"epitome/bench/replay/figures"
	"epitome/bench/report"
	"epitome/console/chart"
)

// mostFigures is how many conversations, the longest ones, a page draws.
const mostFigures = 40

// page is a report as it is shown.
type page struct {
	Headline []string // what it comes to
	Verdict  string   // on the goals; empty: there are none
	About    string   // when and by what it was made
	Command  string   // that made it; empty: not known
	Words    []column // that the tables use
	Head     []string // the lines before the tables
	Sheets   []sheet
	Legend   []legend
	Costs    []bars
	Recalls  []scatter
	Talks    []talk
	Windows  []string // of the conversations' charts
	All      int      // conversations, of which the longest have charts
}

// legend is a policy by its number and colour.
type legend struct {
	Number, Color int
	Name          string
}

// talk is one conversation with its charts.
type talk struct {
	Number   int
	Name     string
	Requests int
	Courses  []courseChart
}

// sheet is a table, and what was said below it.
type sheet struct {
	Title   string
	Columns []string
	Rows    [][]string
	Lines   []string
}

// Heads are the heads of the columns, with what they mean.
func (s sheet) Heads() []column { return newColumns(s.Columns) }

// sheets takes up a report's tables.
type sheets struct {
	head []string
	all  []sheet
}

func (s *sheets) Section(title, columns string) {
	s.all = append(s.all, sheet{Title: title, Columns: strings.Split(columns, "\t")})
}

// Row takes a row of the table, or a line that belongs to no column.
func (s *sheets) Row(text string) {
	if len(s.all) == 0 {
		s.head = append(s.head, chart.Plain(text))
		return
	}
	last := &s.all[len(s.all)-1]
	cells := strings.Split(text, "\t")
	if len(cells) != len(last.Columns) {
		last.Lines = append(last.Lines, chart.Plain(text))
		return
	}
	for i := range cells {
		cells[i] = chart.Plain(cells[i])
	}
	last.Rows = append(last.Rows, cells)
}

// Write writes a report as one HTML page with charts, which needs nothing else. One report makes one page, to the byte.
func Write(w io.Writer, r *figures.Report, about About) error {
	tables := &sheets{}
	r.Fill(report.NewTableIn(tables, r.Machine))
	p := page{Headline: headline(r), Verdict: verdict(r), About: about.text(), Command: commandText(about),
		Head: tables.head, All: len(r.Courses)}
	for _, s := range tables.all {
		p.Sheets = append(p.Sheets, s.parts()...)
	}
	p.Words = wordsOf(p.Sheets)
	policies, windows := order(r)
	for i, name := range policies {
		p.Legend = append(p.Legend, legend{Number: i + 1, Color: colorOf(i), Name: chart.Plain(name)})
	}
	for _, window := range windows {
		p.Windows = append(p.Windows, chart.TokensText(window))
		p.Costs = append(p.Costs, newBars(r, window, policies))
		p.Recalls = append(p.Recalls, newScatter(r, window, policies))
	}
	for i, c := range longest(r) {
		p.Talks = append(p.Talks, newTalk(i, c, policies))
	}
	out := bufio.NewWriter(w)
	if err := errors.Join(p.document().Render(out), out.Flush()); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}

// order returns the policies and windows in the order in which they come.
func order(r *figures.Report) (policies []string, windows []int) {
	for _, row := range r.Rows {
		if !slices.Contains(policies, row.Policy) {
			policies = append(policies, row.Policy)
		}
		if !slices.Contains(windows, row.Window) {
			windows = append(windows, row.Window)
		}
	}
	return policies, windows
}

// longest returns the conversations that are drawn, the longest first.
func longest(r *figures.Report) []figures.Course {
	all := slices.Clone(r.Courses)
	slices.SortStableFunc(all, func(a, b figures.Course) int { return highest(b.Raw) - highest(a.Raw) })
	return all[:min(len(all), mostFigures)]
}

func newTalk(number int, c figures.Course, policies []string) talk {
	out := talk{Number: number, Name: chart.Plain(c.Conversation), Requests: c.Requests}
	var windows []int
	for _, s := range c.Sent {
		if !slices.Contains(windows, s.Window) {
			windows = append(windows, s.Window)
		}
	}
	for _, window := range windows {
		out.Courses = append(out.Courses, newCourseChart(c, window, policies))
	}
	return out
}

// colors is how many colours the page has for policies; one more begins again, and its number tells it apart.
const colors = 12

func colorOf(policy int) int { return policy % colors }
