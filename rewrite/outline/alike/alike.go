// Package alike finds the few lines of a text that say something else where nearly all of it is records of several
// lines.
//
// It promises that the lines are whole and in their order, that there are none where many differ, and that its time
// grows with the text and no faster.
package alike

import (
	"strings"
	"unicode"

	"epitome/rewrite/record"
	"epitome/rewrite/wording"
)

// most is how many lines are told, and mostLines how many a text may have of which they are.
const most, mostLines = 4, 50_000

// Differing returns the lines that say what no other does that begins like them, each below the line that names its
// record, in at most room bytes. There are none if they are more than a few, or if the text is not made of records,
// or has very many lines.
func Differing(text string, room int) []string {
	if strings.Count(text, "\n") > mostLines {
		return nil
	}
	lines := strings.Split(text, "\n")
	read := make([]record.Line, len(lines))
	for i, l := range lines {
		body := strings.TrimLeft(l, " \t")
		read[i] = record.Line{Body: strings.TrimRight(body, " \t\r"), Indent: len(l) - len(body)}
	}
	r, ok := record.Of(read)
	if !ok {
		return nil
	}
	var shown []string
	for _, i := range odd(read, r) {
		line := strings.TrimSuffix(lines[i], "\r")
		if room -= len(line); room < 0 || strings.ContainsFunc(line, isControl) {
			return nil
		}
		shown = append(shown, line)
	}
	return shown
}

// isControl reports whether a character moves what is written: on a screen the line looks otherwise.
func isControl(r rune) bool { return r != '\t' && unicode.IsControl(r) }

// odd returns the lines that are odd among those that begin like them, each below the name of its record.
func odd(lines []record.Line, r *record.Records) (list []int) {
	groups := map[uint64]*group{}
	for i := range lines {
		key := r.Key(i)
		if key == 0 || lines[i].Body == "" {
			continue
		}
		if groups[key] == nil {
			groups[key] = &group{}
		}
		groups[key].add(lines, i)
	}
	isOdd := map[int]bool{}
	for _, g := range groups {
		for _, i := range g.odd(lines) {
			if isOdd[i] = true; r.Name(i) >= 0 {
				isOdd[r.Name(i)] = true
			}
		}
	}
	if len(isOdd) > most {
		return nil
	}
	for i := range lines {
		if isOdd[i] {
			list = append(list, i)
		}
	}
	return list
}

// group is lines that are compared with one another.
type group struct {
	at    []int
	texts wording.Texts
}

func (g *group) add(lines []record.Line, i int) {
	g.at = append(g.at, i)
	g.texts.Add([]byte(lines[i].Body))
}

// odd returns those that say what no other does.
func (g *group) odd(lines []record.Line) (list []int) {
	if !g.texts.AreFew() {
		return nil
	}
	for k, i := range g.at {
		if g.texts.Odd(k, []byte(lines[i].Body)) == 1 {
			list = append(list, i)
		}
	}
	return list
}
