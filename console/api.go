package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"epitome/console/story"
	"epitome/event"
	"epitome/inject"
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
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
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

// conversations answers with a page of the list of conversations, the newest first.
func (o *Console) conversations(w http.ResponseWriter, r *http.Request) {
	const perPage = 100
	first, _ := strconv.Atoi(r.URL.Query().Get("cursor")) // anything else begins with the first page
	list := o.program.Book.Conversations(r.URL.Query().Get("filter"), first, perPage)
	for i := range list.Items {
		list.Items[i].HideFrom(r)
	}
	writeJSON(w, http.StatusOK, list)
}

// conversation answers with a conversation and its turns.
func (o *Console) conversation(w http.ResponseWriter, r *http.Request) {
	s, err := o.program.Book.Conversation(r.PathValue("id"))
	if err != nil {
		refuse(w, http.StatusNotFound, err.Error())
		return
	}
	s.HideFrom(r)
	writeJSON(w, http.StatusOK, s)
}

// edits answers with the edits of a turn of a conversation, or of its newest one.
func (o *Console) edits(w http.ResponseWriter, r *http.Request) {
	s, err := o.program.Book.Conversation(r.PathValue("id"))
	at := len(s.Exchanges) - 1
	if turn := r.URL.Query().Get("turn"); turn != "" {
		at = slices.IndexFunc(s.Exchanges, func(e event.Exchange) bool { return strconv.Itoa(e.Turn) == turn })
	}
	if err != nil || at < 0 {
		refuse(w, http.StatusNotFound, story.ErrUnknown.Error())
		return
	}
	e := s.Exchanges[at]
	edits, err := o.program.Edits(e.Decision)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	edits.Turn = e.Turn
	writeJSON(w, http.StatusOK, edits)
}

// troubles answers with the newest exchanges that failed.
func (o *Console) troubles(w http.ResponseWriter, _ *http.Request) {
	all := o.program.Book.Troubles()
	writeJSON(w, http.StatusOK, story.Page[event.Exchange]{Items: all, Total: len(all)})
}

// status answers with the state of the conversation that the query names, or of the newest one.
func (o *Console) status(w http.ResponseWriter, r *http.Request) {
	s, err := o.program.Book.Status(r.URL.Query().Get("conversation"), r.URL.Query().Get("session"))
	if err != nil {
		refuse(w, http.StatusNotFound, err.Error())
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
