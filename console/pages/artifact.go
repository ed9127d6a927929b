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

const (
	linesShown = 500
	lineShown  = 2000      // bytes of one line
	textShown  = 256 << 10 // bytes of a text
)

// editPage is the data of the page of an edit: the text of its messages, and what was sent in its place.
type editPage struct {
	story.Edit
	ID       string         // of the conversation
	Exchange event.Exchange // that it was sent in
	Original string
	More     int64  // bytes of it that are not shown
	Missing  string // why it cannot be shown
}

func (p *Pages) edit(r *http.Request) (any, error) {
	c, err := p.loadConversation(r)
	if err != nil {
		return nil, err
	}
	edits, err := p.Edits(c.Turn.Decision)
	if err == nil && edits.Missing != "" {
		err = errors.New(edits.Missing)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range edits.List {
		if strconv.Itoa(e.Item) == r.PathValue("item") {
			page := &editPage{Edit: e, ID: c.ID, Exchange: c.Turn.Exchange}
			page.readOriginal(p.open)
			return page, nil
		}
	}
	return nil, story.ErrUnknown
}

// readOriginal reads the beginning of the artifact that has the text of the messages.
func (p *editPage) readOriginal(open func(name string) (io.ReadCloser, int64, error)) {
	if p.Name() == "" {
		p.Missing = "nothing was taken out here, or it was not kept"
		return
	}
	content, size, err := open(p.Name())
	if err != nil {
		p.Missing = err.Error()
		return
	}
	defer func() { _ = content.Close() }()
	text, err := io.ReadAll(io.LimitReader(content, textShown))
	if err != nil {
		p.Missing = err.Error()
	}
	p.Original, p.More = string(text), size-int64(len(text))
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
	Name     string
	Size     int64
	Find     string // only lines with this text, in either case; empty: all
	Lines    []textLine
	Count    int // lines of the whole
	Found    int // lines with Find
	Previous int // the first line of the page before this one; 0: there is none
	Next     int
}

// textLine is a line of an artifact.
type textLine struct {
	Number int
	Text   string
	Cut    int // bytes that are not shown
}

func (p *Pages) artifact(r *http.Request) (any, error) {
	from, _ := strconv.Atoi(r.URL.Query().Get("from")) // anything else begins with the first line
	a := &artifact{Name: r.PathValue("name"), Find: r.URL.Query().Get("find")}
	content, size, err := p.open(a.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	a.Size = size
	return a, a.readLines(r.Context(), content, from)
}

// readLines reads the lines that have the text to be found, from a number on, as many as a page shows, and counts all.
func (a *artifact) readLines(ctx context.Context, content io.Reader, from int) error {
	in, find := bufio.NewReader(content), strings.ToLower(a.Find)
	for ctx.Err() == nil {
		line, err := in.ReadString('\n')
		if err != nil && line == "" {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		a.Count++
		at := strings.Index(strings.ToLower(line), find)
		if at < 0 {
			continue
		}
		a.Found++
		switch {
		case a.Count < from:
			a.Previous = max(1, from-linesShown)
		case len(a.Lines) < linesShown:
			a.Lines = append(a.Lines, cutLine(a.Count, strings.TrimRight(line, "\r\n"), at))
		case a.Next == 0:
			a.Next = a.Count
		}
	}
	return ctx.Err()
}

// cutLine returns a line, or of a long one the part around the byte at.
func cutLine(number int, line string, at int) textLine {
	if len(line) <= lineShown {
		return textLine{number, line, 0}
	}
	begin := max(0, min(at-lineShown/2, len(line)-lineShown))
	text := line[begin : begin+lineShown]
	if begin > 0 {
		text = "… " + text
	}
	return textLine{number, text, len(line) - lineShown}
}
