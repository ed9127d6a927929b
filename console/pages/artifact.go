package pages

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"epitome/console/story"
	"epitome/event"
)

// editPage is the data of the page of an edit: what stood there, and what was sent in its place.
type editPage struct {
	edit
	Exchange event.Exchange // that it was sent in
	Before   []textLine
	More     int    // lines of it that are not shown
	Missing  string // why what stood there cannot be shown
}

func (p *Pages) edit(r *http.Request) (any, error) {
	asked, _ := strconv.Atoi(r.URL.Query().Get("turn"))
	c, err := p.loadConversation(r.PathValue("id"), asked, story.IsOwner(r))
	if err != nil {
		return nil, err
	}
	edits, missing := p.edits(c.Turn.Exchange)
	for _, e := range edits {
		if strconv.Itoa(e.Item) != r.PathValue("item") {
			continue
		}
		page := &editPage{edit: edit{e, c.ID, c.Turn.Turn, cameAt(e.Item, c.Exchanges)}, Exchange: c.Turn.Exchange}
		if page.Name() == "" {
			page.Missing = "no artifact was kept"
			return page, nil
		}
		content, _, err := p.open(page.Name())
		if err != nil {
			page.Missing = err.Error()
			return page, nil
		}
		defer func() { _ = content.Close() }()
		all, err := readLines(r.Context(), content, lineFilter{})
		page.Before, page.More = all.Lines, all.Count-len(all.Lines)
		return page, err
	}
	if missing != "" {
		return nil, errors.New(missing)
	}
	return nil, story.ErrUnknown
}

// open opens an artifact.
func (p *Pages) open(name string) (content io.ReadCloser, size int64, err error) {
	content, size, err = p.Open(strings.TrimSuffix(name, ".txt")) // its file is called so
	if err != nil {
		return nil, 0, fmt.Errorf("cannot open artifact %s: %w", name, err)
	}
	return content, size, nil
}

// artifact is the data of the page of an artifact: some of its lines.
type artifact struct {
	Name string
	Size int64
	Find string
	text
	Previous, Next int // the first lines of the pages beside this one; 0: there is none
}

func (p *Pages) artifact(r *http.Request) (any, error) {
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("from"))
	a := artifact{Name: r.PathValue("name"), Find: q.Get("find")}
	content, size, err := p.open(a.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	a.Size = size
	if a.text, err = readLines(r.Context(), content, lineFilter{max(1, from), a.Find}); err != nil {
		return nil, err
	}
	if last := len(a.Lines) - 1; last >= 0 && a.Find == "" {
		if a.Lines[0].Number > 1 {
			a.Previous = max(1, a.Lines[0].Number-linesShown)
		}
		if a.Lines[last].Number < a.Count {
			a.Next = a.Lines[last].Number + 1
		}
	}
	return a, nil
}

// text is some lines of a larger text.
type text struct {
	Lines []textLine
	Count int // lines of the whole
	Found int // lines that were searched for
}

// textLine is a line, in three pieces where it has what was searched for.
type textLine struct {
	Number             int
	Before, Hit, After string
	Cut                int // bytes at its end that are not shown
}

// lineFilter chooses lines: those from a number on, or those that contain a text in either case.
type lineFilter struct {
	from int
	find string
}

const (
	linesShown = 500
	bytesShown = 256 << 10 // of all lines of a page
	lineShown  = 2000      // bytes of one line
)

// readLines reads the lines that a filter chooses, as many as a page shows, and counts all.
func readLines(ctx context.Context, r io.Reader, f lineFilter) (t text, err error) {
	in, find := bufio.NewReaderSize(r, 64<<10), strings.ToLower(f.find)
	for shown := 0; ; {
		line, err := in.ReadString('\n')
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return t, err
		}
		if err := ctx.Err(); err != nil {
			return t, err
		}
		t.Count++
		line = strings.TrimRight(line, "\r\n")
		at := strings.Index(strings.ToLower(line), find)
		if at < 0 || find == "" && t.Count < f.from {
			continue
		}
		t.Found++
		if len(t.Lines) == linesShown || shown > bytesShown {
			continue
		}
		made := cutLine(t.Count, line, at, len(find))
		shown += len(made.Before) + len(made.Hit) + len(made.After)
		t.Lines = append(t.Lines, made)
	}
}

// cutLine returns a line with the hit that begins at at, and so much of what stands around it as a page shows.
func cutLine(number int, line string, at, length int) textLine {
	at = min(at, len(line)) // lower case may be longer
	end := min(at+length, len(line))
	l := textLine{Number: number, Before: line[:at], Hit: line[at:end], After: line[end:]}
	if length == 0 {
		l.Before, l.After = line, ""
	}
	if len(l.Before) > lineShown {
		l.Cut += len(l.Before) - lineShown
		if length == 0 {
			l.Before = l.Before[:lineShown]
		} else {
			l.Before = "…" + l.Before[l.Cut:]
		}
	}
	if len(l.After) > lineShown {
		l.Cut += len(l.After) - lineShown
		l.After = l.After[:lineShown]
	}
	return l
}
