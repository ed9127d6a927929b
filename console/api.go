package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"epitome/event"
	"epitome/inject"
	"epitome/store"
)

// loader returns what r asks for, for an answer of JSON or for a page.
type loader func(r *http.Request) (any, error)

// badRequest is an error in the request. Its text says what to send.
type badRequest struct{ error }

// json returns a handler that answers with what load returns.
func (o *Console) json(load loader) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := load(r)
		if err != nil {
			refuse(w, statusOf(err), err.Error())
			return
		}
		writeJSON(w, http.StatusOK, data)
	}
}

// statusOf returns the status of an answer that says an error.
func statusOf(err error) int {
	var bad badRequest
	switch {
	case errors.As(err, &bad):
		return http.StatusBadRequest
	case errors.Is(err, errNotOwner):
		return http.StatusForbidden
	case errors.Is(err, event.ErrUnknown), errors.Is(err, inject.ErrNoEntry):
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// summary returns the sums of a time by day, model, upstream or client.
func (o *Console) summary(r *http.Request) (any, error) {
	q := r.URL.Query()
	from, err := parseTime(q.Get("from"))
	to, err2 := parseTime(q.Get("to"))
	if err := errors.Join(err, err2); err != nil {
		return nil, badRequest{err}
	}
	s, err := o.sums(event.Span{From: from, To: to, By: q.Get("by")})
	if err != nil {
		return nil, badRequest{err}
	}
	return s, nil
}

// sums returns the sums of a time, with a note for each store that fails.
func (o *Console) sums(asked event.Span) (event.Report, error) {
	s, err := o.program.Book.Report(asked)
	s.Version, s.Mode = o.program.Version, o.program.Mode()
	parts, _ := o.program.Ready()
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if state := parts[part]; state != store.Answers {
			s.Notes = append(s.Notes, part+": "+state+", as the log says")
		}
	}
	return s, err
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

// conversations returns a page of the list of conversations, the newest first.
func (o *Console) conversations(r *http.Request) (any, error) {
	return o.list(r, r.URL.Query().Get("filter"), 100), nil
}

// list returns conversations that contain match, from the one that the cursor in the query names.
func (o *Console) list(r *http.Request, match string, limit int) event.Page[event.Conversation] {
	first, _ := strconv.Atoi(r.URL.Query().Get("cursor")) // anything else begins with the first page
	page := o.program.Book.Conversations(match, first, limit)
	for i := range page.Items {
		hideTitle(r, &page.Items[i])
	}
	return page
}

// conversation returns a conversation and its turns.
func (o *Console) conversation(r *http.Request) (any, error) { return o.story(r, r.PathValue("id")) }

// story returns a conversation with its turns. The error is event.ErrUnknown if it is not kept.
func (o *Console) story(r *http.Request, id string) (event.Story, error) {
	s, err := o.program.Book.Conversation(id)
	hideTitle(r, &s.Conversation)
	return s, err
}

// hideTitle removes the title, which is text of the conversation, unless the owner asks.
func hideTitle(r *http.Request, c *event.Conversation) {
	if !isOwner(r) {
		c.Title = ""
	}
}

// edits returns the edits of a turn of a conversation, or of its newest one.
func (o *Console) edits(r *http.Request) (any, error) {
	s, err := o.story(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	at := len(s.Exchanges) - 1
	if turn := r.URL.Query().Get("turn"); turn != "" {
		at = slices.IndexFunc(s.Exchanges, func(e event.Exchange) bool { return strconv.Itoa(e.Turn) == turn })
	}
	if at < 0 {
		return nil, event.ErrUnknown
	}
	edits, err := o.program.Edits(s.Exchanges[at].Decision)
	edits.Turn = s.Exchanges[at].Turn
	return edits, err
}

// troubles returns the newest exchanges that failed.
func (o *Console) troubles(*http.Request) (any, error) {
	all := o.program.Book.Troubles()
	return event.Page[event.Exchange]{Items: all, Total: len(all)}, nil
}

// status returns the state of the conversation that the query names, or of the newest one.
func (o *Console) status(r *http.Request) (any, error) {
	return o.program.Book.Status(r.URL.Query().Get("conversation"), r.URL.Query().Get("session"))
}

// Memories is the answer of /-/api/memory.
type Memories struct {
	Enabled  bool           `json:"enabled"`
	Memories []inject.Notes `json:"memories"`
}

// memory returns what earlier sessions have learned.
func (o *Console) memory(*http.Request) (any, error) {
	all, err := o.program.Memory.List()
	return Memories{o.program.Memory.On(), append([]inject.Notes{}, all...)}, err
}

// Forgetting is the body of a request to /-/api/memory/forget: an id, or all entries of the owner.
type Forgetting struct {
	Owner inject.Owner `json:"owner"`
	ID    string       `json:"id,omitempty"`
	All   bool         `json:"all,omitempty"`
}

func (o *Console) forget(w http.ResponseWriter, r *http.Request) {
	var asked Forgetting
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<10)).Decode(&asked)
	if err != nil || asked.Owner.Project == "" || (asked.ID == "") != asked.All {
		refuse(w, http.StatusBadRequest, `cannot read the entry: send {"owner": {"scope": "…", "project": "…"}, "id": "…"}, `+
			`or "all": true in place of the id`)
		return
	}
	if err := o.program.Memory.Forget(asked.Owner, asked.ID); err != nil {
		refuse(w, statusOf(err), err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"forgotten": true})
}

// compact answers a conversation with a shorter form of it. Nothing is sent to a provider.
func (o *Console) compact(w http.ResponseWriter, r *http.Request) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		refuse(w, http.StatusUnsupportedMediaType, "send the conversation without Content-Encoding")
		return
	}
	body, err := io.ReadAll(r.Body) // the server bounds it
	if err != nil {
		refuse(w, http.StatusBadRequest, "the body was cut off: send it again")
		return
	}
	done, err := o.program.Compact(r, body)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error())
		return
	case done.Report.Err != nil:
		o.program.Log.Warn("cannot compact a conversation", "error", done.Report.Err.Error())
		refuse(w, http.StatusInternalServerError,
			"epitome failed, as its log says: go on with the conversation as it is, or try again")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(done.Body)))
	h.Set("X-Epitome-Action", done.Report.Action)
	h.Set("X-Epitome-Tokens", fmt.Sprintf("%d>%d", done.Report.TokensBefore.Total(), done.Report.TokensAfter.Total()))
	if reason := strings.Fields(done.Report.Reason); len(reason) > 0 {
		h.Set("X-Epitome-Reason", strings.Join(reason, " "))
	}
	_, _ = w.Write(done.Body) // an error means that the client has left
}
