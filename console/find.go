package console

import (
	"net/http"

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
// begin as the query says. The hits of a conversation are in the order of its turns.
func (o *Console) find(r *http.Request) (any, error) {
	q, hits := r.URL.Query(), []Hit{}
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

// handoff returns what another agent needs to go on with a conversation.
func (o *Console) handoff(r *http.Request) (any, error) {
	text, why, err := o.program.Handoff(r.Context(), r.URL.Query().Get("conversation"))
	if err != nil {
		return nil, refusal{http.StatusBadRequest, err.Error()}
	}
	return map[string]string{"text": text, "why": why}, nil
}
