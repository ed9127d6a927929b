package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"epitome/console/story"
	"epitome/event"
	"epitome/inject"
)

// What is refused in several places.
const (
	unknownConversation = "epitome knows no such conversation, or no longer"
	unknownExchange     = "epitome knows no exchange of that number, or no longer"
)

// summary answers with the sums of a time by day, hour, model, upstream, client or conversation.
func (o *Console) summary(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, err := parseTime(q.Get("from"))
	to, err2 := parseTime(q.Get("to"))
	if err := errors.Join(err, err2); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s, err := o.program.Book.Summary(story.Span{From: from, To: to, By: q.Get("by")})
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, s)
}

// parseTime parses a time, a date, or an age such as 24h or 7d. An empty text is the zero time.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return at, nil
	}
	if number, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.ParseUint(number, 10, 16); err == nil {
			return time.Now().AddDate(0, 0, -int(days)), nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-age), nil
	}
	return time.Time{}, fmt.Errorf("cannot read the time %.40q: write a date as 2026-11-20, a time as "+
		"2026-11-20T15:00:00Z, or an age as 24h or 7d", text)
}

// conversations answers with a page of the list of conversations.
func (o *Console) conversations(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	list, err := o.program.Book.Conversations(story.Listing{
		Cursor: q.Get("cursor"), Sort: q.Get("sort"), Match: q.Get("filter"), Rising: q.Has("rising"), Live: q.Has("live"),
	})
	switch {
	case errors.Is(err, story.ErrUnknown):
		refuse(w, http.StatusBadRequest, "cannot read the cursor: send the last answer's next, with the same sort")
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error())
	default:
		for i := range list.Items {
			hideTitle(r, &list.Items[i])
		}
		writeJSON(w, http.StatusOK, list)
	}
}

// hideTitle removes the title, which is text of the conversation, unless the owner asks.
func hideTitle(r *http.Request, c *story.Conversation) {
	if !story.IsOwner(r) {
		c.Title = ""
	}
}

// conversation answers with a conversation and its turns.
func (o *Console) conversation(w http.ResponseWriter, r *http.Request) {
	s, err := o.program.Book.Conversation(r.PathValue("id"))
	if err != nil {
		refuse(w, http.StatusNotFound, unknownConversation)
		return
	}
	hideTitle(r, &s.Conversation)
	writeJSON(w, http.StatusOK, s)
}

// conversationEdits answers with the edits of a conversation's newest request.
func (o *Console) conversationEdits(w http.ResponseWriter, r *http.Request) {
	s, err := o.program.Book.Conversation(r.PathValue("id"))
	if err != nil || len(s.Exchanges) == 0 {
		refuse(w, http.StatusNotFound, unknownConversation)
		return
	}
	o.writeEdits(w, s.Exchanges[len(s.Exchanges)-1])
}

// exchangeOf returns the exchange that a request names by number.
func (o *Console) exchangeOf(r *http.Request) (event.Exchange, error) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return event.Exchange{}, err
	}
	return o.program.Book.Exchange(seq)
}

func (o *Console) exchange(w http.ResponseWriter, r *http.Request) {
	e, err := o.exchangeOf(r)
	if err != nil {
		refuse(w, http.StatusNotFound, unknownExchange)
		return
	}
	writeJSON(w, http.StatusOK, e)
}

func (o *Console) exchangeEdits(w http.ResponseWriter, r *http.Request) {
	e, err := o.exchangeOf(r)
	if err != nil {
		refuse(w, http.StatusNotFound, unknownExchange)
		return
	}
	o.writeEdits(w, e)
}

func (o *Console) writeEdits(w http.ResponseWriter, e event.Exchange) {
	edits, err := o.program.Edits(e.Decision)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	edits.Seq = e.Seq
	switch {
	case e.Decision == "" && e.Action == event.ActionBypass:
		edits.Missing = "something failed inside epitome, and the form of this request is not recorded"
	case edits.Missing != "" && e.Mode == event.ModeObserve:
		edits.Missing = "mode observe keeps decisions only while epitome runs"
	}
	writeJSON(w, http.StatusOK, edits)
}

// troubles answers with the newest exchanges that failed.
func (o *Console) troubles(w http.ResponseWriter, _ *http.Request) {
	all := o.program.Book.Troubles()
	writeJSON(w, http.StatusOK, story.Page[event.Exchange]{Items: all, Total: len(all)})
}

// status answers with the state of the conversation that the query names, or of the newest one.
func (o *Console) status(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s, err := o.program.Book.Status(story.Which{ID: q.Get("conversation"), Session: q.Get("session")})
	if err != nil {
		refuse(w, http.StatusNotFound, unknownConversation)
		return
	}
	writeJSON(w, http.StatusOK, s)
}

// Memory is the memory of earlier sessions, for the owner's commands and pages.
type Memory interface {
	// List returns the notes of all projects that have any.
	List() ([]inject.Notes, error)
	// Forget deletes the entry with this id, or all entries of o if id is empty. The error is inject.ErrNoEntry if there
	// is none.
	Forget(o inject.Owner, id string) error
	On() bool // the memory is in use
}

// Memories is the answer of /-/api/memory.
type Memories struct {
	Enabled  bool           `json:"enabled"`
	Memories []inject.Notes `json:"memories"`
}

// Forgetting is the body of a request to /-/api/memory/forget: an id, or all entries of the owner.
type Forgetting struct {
	Owner inject.Owner `json:"owner"`
	ID    string       `json:"id,omitempty"`
	All   bool         `json:"all,omitempty"`
}

func (o *Console) memory(w http.ResponseWriter, _ *http.Request) {
	all, err := o.program.Memory.List()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, Memories{o.program.Memory.On(), append([]inject.Notes{}, all...)})
}

func (o *Console) forget(w http.ResponseWriter, r *http.Request) {
	var asked Forgetting
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<10)).Decode(&asked)
	if err != nil || asked.Owner.Project == "" || (asked.ID == "") != asked.All {
		refuse(w, http.StatusBadRequest, `cannot read the entry: send {"owner": {"scope": "…", "project": "…"}, "id": "…"}, `+
			`or "all": true in place of the id`)
		return
	}
	switch err := o.program.Memory.Forget(asked.Owner, asked.ID); {
	case errors.Is(err, inject.ErrNoEntry):
		refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	default:
		writeJSON(w, http.StatusOK, map[string]bool{"forgotten": true})
	}
}
