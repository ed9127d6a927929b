package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"epitome/event"
)

// Hit is an artifact with the lines in it that match.
type Hit struct {
	Conversation string     `json:"conversation"`
	Turn         int        `json:"turn"`  // at which its content was taken out
	Edit         event.Edit `json:"edit"`  // that took it out
	Lines        string     `json:"lines"` // each behind its number and a colon
}

// find looks for a word or regular expression, in either case, in all that was taken out of the conversations whose IDs
// begin as the query says. Hits are in the order of turns. With the name of an artifact, it answers like the tool find.
func (o *Console) find(r *http.Request) (any, error) {
	q := r.URL.Query()
	if q.Has("artifact") {
		return o.findWord(r.Context(), nil, q.Get("artifact"), q.Get("find"))
	}
	hits := []Hit{} // not null in JSON
	for _, id := range o.program.Book.IDs(q.Get("conversation")) {
		s, err := o.program.Book.Conversation(id)
		for _, e := range s.Exchanges {
			var edits event.Edits
			if err == nil && e.Decided {
				edits, err = o.program.Edits(e.Decision)
			}
			for _, edit := range edits.List {
				if !edit.New {
					continue
				}
				lines, failed := o.program.Artifacts.lines(r.Context(), edit.Artifact, "", "(?i)"+q.Get("find"))
				if failed == nil {
					hits = append(hits, Hit{id, e.Turn, edit, string(lines)})
				} else if statusOf(failed) != http.StatusNotFound { // it has such lines, and has not expired
					err = failed
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// FindWord answers the tool find. h has the headers of the call; nil if it comes from the owner.
type FindWord func(ctx context.Context, h http.Header, artifact, word string) (string, error)

// findWord returns the newest lines with a word of all that left the conversation in which an artifact's name stands.
func (o *Console) findWord(ctx context.Context, h http.Header, artifact, word string) (string, error) {
	const most = 20 // lines
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	edits, err := o.program.EditsWith(h, artifactName.FindString(artifact))
	var found []string
	for i := len(edits) - 1; i >= 0 && len(found) < most && ctx.Err() == nil; i-- {
		content, failed := o.program.Artifacts(edits[i].Artifact)
		found = append(linesWith(word, string(content), edits[i], most-len(found)), found...)
		err = cmp.Or(err, failed, ctx.Err())
	}
	if found != nil {
		return strings.Join(found, "\n"), nil
	}
	if err != nil {
		return "", o.told(err) // models read it, too
	}
	return "", BadRequest(fmt.Sprintf("nothing that left this conversation has %.80q", word))
}

// linesWith returns the last lines with a word in what an edit took out, each with its message and the text around.
func linesWith(word, text string, e event.Edit, most int) (found []string) {
	type hit struct {
		heading  string
		line, at int // its number; where the word begins, or nearly, as in lower case the bytes before it may be others
	}
	var hits []hit
	heading := e.Messages()
	start := 0                            // of a line
	mark, _, _ := strings.Cut(text, ": ") // of headings in a transcript
	word = strings.ToLower(word)
	for i, line := range strings.SplitAfter(text, "\n") {
		if e.Last > e.Item && strings.HasPrefix(line, mark) {
			heading = line
		}
		at := strings.Index(strings.ToLower(line), word)
		if at >= 0 {
			hits = append(hits[max(0, len(hits)-most+1):], hit{heading, i + 1, start + min(at, len(line))})
		}
		start += len(line)
	}
	for _, h := range hits {
		heading := Shorten(strings.TrimSpace(h.heading), 100)
		around := Shorten(text[max(0, h.at-60):], 180)
		found = append(found, Plain(fmt.Sprintf("%s, line %d of artifact %s: %s", heading, h.line, e.Artifact, around)))
	}
	return found
}
