// Package api is what is asked of a Book over HTTP, and its answers as JSON.
//
// It promises that an answer is what the Book says, unchanged, and that nothing is changed by asking.
package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"epitome/console/access"
	"epitome/console/reply"
	"epitome/console/story"
	"epitome/event"
)

// Edits reads in what form each message of a request was sent, by what its event calls the decision.
type Edits func(decision string) (story.Edits, error)

// Routes are the handlers of a Book's paths, by pattern. All of them are for GET.
func Routes(b *story.Book, edits Edits) map[string]http.Handler {
	a := &api{b, edits}
	return map[string]http.Handler{
		"/-/api/summary":            http.HandlerFunc(a.summary),
		"/-/api/conversations":      http.HandlerFunc(a.conversations),
		"/-/api/conversations/{id}": http.HandlerFunc(a.conversation),
		"/-/api/exchanges/{seq}":    http.HandlerFunc(a.exchange),
		"/-/api/troubles":           http.HandlerFunc(a.troubles),
		"/-/status":                 http.HandlerFunc(a.status),

		"/-/api/conversations/{id}/edits": http.HandlerFunc(a.conversationEdits),
		"/-/api/exchanges/{seq}/edits":    http.HandlerFunc(a.exchangeEdits),
	}
}

type api struct {
	book  *story.Book
	edits Edits
}

// Why there is no answer.
const (
	unknownConversation = "epitome knows no such conversation, or not any more"
	unknownExchange     = "epitome knows no exchange of that number, or not any more"
)

// summary answers with what became of all exchanges of a time.
func (a *api) summary(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var times [2]time.Time
	for k, name := range []string{"from", "to"} {
		var ok bool
		if times[k], ok = parseTime(q.Get(name)); !ok {
			reply.Refuse(w, http.StatusBadRequest, fmt.Sprintf("cannot read the time %.40q: write a date as 2026-11-20, a time as "+
				"2026-11-20T15:00:00Z, or how long ago as 24h or 7d", q.Get(name)))
			return
		}
	}
	s, err := a.book.Summary(story.Span{From: times[0], To: times[1], By: q.Get("by")})
	if err != nil {
		reply.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	give(w, s)
}

// parseTime reads a time, a date, which is its beginning, or how long ago it was; an empty text is the zero time.
func parseTime(text string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, true
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return at, true
	}
	if count, isDays := cutDays(text); isDays {
		return time.Now().AddDate(0, 0, -count), true
	}
	ago, err := time.ParseDuration(text)
	return time.Now().Add(-ago), err == nil
}

// mostDays is more than figures are kept for.
const mostDays = 100_000

// cutDays reads a number of days, as in 7d.
func cutDays(text string) (count int, isDays bool) {
	last := len(text) - 1
	count, err := strconv.Atoi(text[:last])
	return count, err == nil && text[last] == 'd' && count >= 0 && count < mostDays
}

// conversations answers with a page of them.
func (a *api) conversations(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, err := a.book.Conversations(story.Listing{
		Cursor: q.Get("cursor"), Sort: q.Get("sort"), Match: q.Get("filter"), Rising: q.Has("rising"), Live: q.Has("live"),
	})
	if errors.Is(err, story.ErrUnknown) {
		reply.Refuse(w, http.StatusBadRequest, "cannot read the cursor: give the one that came as next, with the same sort")
		return
	}
	if err != nil {
		reply.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	for i := range page.Items {
		hideTitle(r, &page.Items[i])
	}
	give(w, page)
}

// conversation answers with one and its turns.
func (a *api) conversation(w http.ResponseWriter, r *http.Request) {
	s, err := a.book.Conversation(r.PathValue("id"))
	if err != nil {
		reply.Refuse(w, http.StatusNotFound, unknownConversation)
		return
	}
	hideTitle(r, &s.Conversation)
	give(w, s)
}

// hideTitle takes the title out of what anybody but the owner is shown.
func hideTitle(r *http.Request, c *story.Conversation) {
	if !access.Owner(r) {
		c.Title = ""
	}
}

// exchange answers with one by its number.
func (a *api) exchange(w http.ResponseWriter, r *http.Request) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	e, unknown := a.book.Exchange(seq)
	if err != nil || unknown != nil {
		reply.Refuse(w, http.StatusNotFound, unknownExchange)
		return
	}
	give(w, e)
}

// troubles answers with the newest exchanges that went wrong.
func (a *api) troubles(w http.ResponseWriter, _ *http.Request) {
	all := a.book.Troubles()
	give(w, story.Page[event.Exchange]{Items: all, Total: len(all)})
}

// status answers with what a status line shows.
func (a *api) status(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s, err := a.book.Status(story.Which{ID: q.Get("conversation"), Session: q.Get("session")})
	if err != nil {
		reply.Refuse(w, http.StatusNotFound, "epitome knows no such conversation, or there was none yet")
		return
	}
	give(w, s)
}

// give answers with what is true now and may not be later.
func give(w http.ResponseWriter, v any) {
	w.Header().Set("Cache-Control", "no-store")
	reply.JSON(w, http.StatusOK, v)
}
