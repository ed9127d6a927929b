package console

import (
	"cmp"
	"context"
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

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/event/journal"
	"epitome/inject"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/store"
)

// loader returns what r asks for, for an answer of JSON or for a page.
type loader func(r *http.Request) (any, error)

// refusal is an error in the request. Its text says what to send.
type refusal struct {
	status int // of the answer
	Text   string
}

func (r refusal) Error() string { return r.Text }

func (r refusal) Status() int { return r.status }

// badRequest returns an error in a request, which its sender reads. The text says what to send.
func badRequest(format string, args ...any) error {
	return refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// json returns a handler that answers with what load returns.
func (o *Console) json(load loader) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := load(r)
		if err != nil {
			o.fail(w, err)
			return
		}
		writeJSON(w, http.StatusOK, data)
	}
}

// fail answers with an error.
func (o *Console) fail(w http.ResponseWriter, err error) {
	told := o.told(err)
	refuse(w, told.status, told.Text)
}

// told returns what an answer says of an error. One of epitome's own is logged, and the answer has none of its text: it
// may name files and servers.
func (o *Console) told(err error) refusal {
	var refused interface{ Status() int }
	switch {
	case errors.As(err, &refused):
		return refusal{refused.Status(), err.Error()}
	case errors.Is(err, journal.ErrUnknown), errors.Is(err, inject.ErrNoEntry), isGone(err):
		return refusal{http.StatusNotFound, err.Error()}
	case errors.Is(err, store.ErrAway):
		return refusal{http.StatusServiceUnavailable, store.ErrAway.Error() + ": ask again soon"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return refusal{http.StatusServiceUnavailable, "this takes too long: ask again, or for less"}
	}
	o.program.Log.Warn("cannot answer a request under /-/", "error", err.Error())
	return refusal{http.StatusInternalServerError, "epitome failed, as its log says"}
}

// isGone reports whether there is no artifact of a name, or no such line in it.
func isGone(err error) bool {
	return errors.Is(err, offload.ErrUnknown) || errors.Is(err, offload.ErrNoLines)
}

// decode reads a small JSON body; form is what a client should send.
func decode(r *http.Request, body any, form string) error {
	const most = 16 << 10 // bytes
	if json.NewDecoder(io.LimitReader(r.Body, most)).Decode(body) != nil {
		return badRequest("cannot read the body: send %s", form)
	}
	return nil
}

// summary returns the sums that a query asks for.
func (o *Console) summary(r *http.Request) (any, error) {
	q := r.URL.Query()
	from, err := parseTime(q.Get("from"))
	if err != nil {
		return nil, err
	}
	to, err := parseTime(q.Get("to"))
	if err != nil {
		return nil, err
	}
	all, err := o.sums(from, to, cmp.Or(q.Get("by"), "day"))
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// run returns the sums of an "epitome run".
func (o *Console) run(r *http.Request) (any, error) { return o.program.Run(r.PathValue("name")) }

// sums returns the sums of a time, grouped in some ways, with a note for each store that fails.
func (o *Console) sums(from, to time.Time, by ...string) ([]journal.Report, error) {
	all, err := o.program.Book.Reports(from, to, by...)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	failing := o.failing()
	for i := range all {
		s := &all[i]
		s.Version, s.Mode = o.program.Version, o.program.Settings().Mode
		s.Notes = slices.Concat(s.Notes, failing)
	}
	return all, nil
}

// failing returns a note for each store that does not work.
func (o *Console) failing() (notes []string) {
	parts, _ := o.program.Ready()
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if parts[part] != store.Answers {
			notes = append(notes, part+": "+parts[part]+", as the log says")
		}
	}
	return notes
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
	number, isDays := strings.CutSuffix(text, "d")
	if days, err := strconv.ParseUint(number, 10, 16); isDays && err == nil {
		return time.Now().AddDate(0, 0, -int(days)), nil
	}
	if age, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-age), nil
	}
	return time.Time{}, badRequest("cannot read the time %.40q: write a date as 2026-11-20, a time as "+
		"2026-11-20T15:00:00Z, or an age as 24h or 7d", text)
}

// conversations returns a page of the list of conversations.
func (o *Console) conversations(r *http.Request) (any, error) { return pageOf(r, o.list(r), 100), nil }

// list returns the conversations that the query filters, the newest first.
func (o *Console) list(r *http.Request) []journal.Conversation {
	filter := strings.ToLower(r.URL.Query().Get("filter"))
	all := o.program.Book.Conversations()
	for i := range all {
		hideTitle(r, &all[i])
	}
	return slices.DeleteFunc(all, func(c journal.Conversation) bool {
		text := strings.Join([]string{c.ID, c.Model, c.Upstream, c.Agent, c.Client, c.Title, c.Folder}, "\n")
		return !strings.Contains(strings.ToLower(text), filter)
	})
}

// pageOf returns up to limit items of a list, from the one on that the query's cursor counts to.
func pageOf[T any](r *http.Request, all []T, limit int) journal.Page[T] {
	first, _ := strconv.Atoi(r.URL.Query().Get("cursor")) // anything else begins with the first page
	first = min(max(first, 0), len(all))
	page := journal.Page[T]{Items: all[first:min(first+limit, len(all))], Total: len(all)}
	if end := first + len(page.Items); end < len(all) {
		page.Next = end
	}
	return page
}

// conversation returns a conversation and its turns.
func (o *Console) conversation(r *http.Request) (any, error) { return o.story(r, r.PathValue("id")) }

// story returns a conversation with its turns. The error is journal.ErrUnknown if it is not kept.
func (o *Console) story(r *http.Request, id string) (journal.Story, error) {
	s, err := o.program.Book.Conversation(id)
	hideTitle(r, &s.Conversation)
	return s, err
}

// hideTitle removes title, folder and what is kept, which are text of the conversation, unless the owner asks.
func hideTitle(r *http.Request, c *journal.Conversation) {
	if !isOwner(r) {
		c.Title, c.Folder, c.Kept = "", "", nil
	}
}

// edits returns the edits of a turn of a conversation, or of its newest one.
func (o *Console) edits(r *http.Request) (any, error) {
	s, err := o.story(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	turn, err := turnOf(s, r)
	if err != nil {
		return nil, err
	}
	if turn.Turn == 0 { // none is kept
		return nil, journal.ErrUnknown
	}
	edits, err := o.program.Edits(turn.Decision)
	edits.Turn = turn.Turn
	return edits, err
}

// restore has a conversation sent whole again, as far as the window allows, from its next request on. The path has the
// beginning of its ID.
func (o *Console) restore(r *http.Request) (any, error) {
	id, err := o.idOf(r)
	if err != nil {
		return nil, err
	}
	edits, err := o.program.Restore(id)
	if err == nil && edits == 0 {
		err = refusal{http.StatusConflict, "nothing of it is left out, or epitome no longer knows what was"}
	}
	return map[string]any{"conversation": id, "edits": edits}, err
}

// ask has the next request of a conversation compacted: to so many tokens, and with a focus, if the query has them.
func (o *Console) ask(r *http.Request) (any, error) {
	id, err := o.idOf(r)
	if err != nil {
		return nil, err
	}
	return map[string]any{"conversation": id, "asked": true}, o.program.Ask(id, r.FormValue("to"), r.FormValue("focus"))
}

// idOf returns the ID of the one conversation whose ID begins as the path of a request says.
func (o *Console) idOf(r *http.Request) (string, error) {
	ids := o.program.Book.IDs(r.PathValue("id"))
	switch {
	case len(ids) == 0:
		return "", journal.ErrUnknown
	case len(ids) > 1:
		return "", badRequest("several IDs begin so, such as %s and %s", ids[0], ids[1])
	}
	return ids[0], nil
}

// forgetConversation removes all that is kept of a conversation. Its ID stands whole in the path.
func (o *Console) forgetConversation(r *http.Request) (any, error) {
	id := r.PathValue("id")
	artifacts, remains, err := o.program.Forget(id)
	return map[string]any{"conversation": id, "artifacts": artifacts, "remains": remains}, err
}

// handoff returns what another agent needs to go on with a conversation.
func (o *Console) handoff(r *http.Request) (any, error) {
	q := r.URL.Query()
	text, why, err := o.program.Handoff(r.Context(), q.Get("conversation"), q.Get("ask") != "false")
	return map[string]string{"text": text, "why": why}, err
}

// troubles returns the newest exchanges that failed.
func (o *Console) troubles(*http.Request) (any, error) {
	all := o.program.Book.Troubles()
	return journal.Page[event.Exchange]{Items: all, Total: len(all)}, nil
}

// status returns the state of the conversation that the query names, or of the newest one.
func (o *Console) status(r *http.Request) (any, error) {
	s, err := o.program.Book.Status(r.URL.Query().Get("conversation"), r.URL.Query().Get("session"))
	notes := o.failing()
	if s.Notice == "" && len(notes) > 0 {
		s.Notice = notes[0]
	}
	return s, err
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

// forget removes entries of the memory.
func (o *Console) forget(r *http.Request) (any, error) {
	const form = `{"owner": {"scope": "…", "project": "…"}, "id": "…"}, or "all": true in place of the id`
	var asked Forgetting
	if err := decode(r, &asked, form); err != nil {
		return nil, err
	}
	if asked.Owner.Project == "" || (asked.ID == "") != asked.All {
		return nil, badRequest("cannot forget this: send %s", form)
	}
	return map[string]bool{"forgotten": true}, o.program.Memory.Forget(asked.Owner, asked.ID)
}

// shaped returns the conversation of a request in another form. ok is false if an error was answered.
func (o *Console) shaped(w http.ResponseWriter, r *http.Request,
	by func(*http.Request, []byte) (rewrite.Output, error)) (done rewrite.Output, ok bool) {
	body, err := io.ReadAll(r.Body) // the server bounds it
	if err != nil {
		err = badRequest("the body was cut off: send it again")
	} else {
		r.Header.Del(OwnerHeader) // it says nothing of how to shape
		done, err = by(r, body)
	}
	if err == nil {
		return done, true
	}
	var refused interface{ Status() int }
	if !errors.As(err, &refused) {
		err = badRequest("%v", err) // it is about the body
	}
	o.fail(w, err)
	return done, false
}

// Compressed is the answer of /-/v1/compress beside the messages, as in Headroom's API, which gateways call.
type Compressed struct {
	Before    int      `json:"tokens_before"`
	After     int      `json:"tokens_after"`
	Saved     int      `json:"tokens_saved"`
	Ratio     float64  `json:"compression_ratio"` // After for one of Before
	Steps     []string `json:"transforms_applied"`
	Artifacts []string `json:"ccr_hashes"` // which /-/v1/retrieve/NAME has
}

// compress answers a gateway with its messages as they are to be sent, byte for byte the same in each call.
func (o *Console) compress(w http.ResponseWriter, r *http.Request) {
	done, ok := o.shaped(w, r, o.program.Compress)
	if !ok {
		return
	}
	before := done.Report.TokensBefore.Total()
	after := done.Report.TokensAfter.Total()
	c := Compressed{
		Before: before, After: after, Saved: before - after, Ratio: float64(after) / float64(max(before, 1)),
		Steps: []string{}, Artifacts: []string{},
	}
	for _, change := range done.Changes() {
		step := string(change.Step)
		if !slices.Contains(c.Steps, step) {
			c.Steps = append(c.Steps, step)
		}
		if len(change.Artifacts) > 0 && !slices.Contains(c.Artifacts, change.Artifacts[0]) {
			c.Artifacts = append(c.Artifacts, change.Artifacts[0])
		}
	}
	counts, _ := json.Marshal(c) // plain data
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"messages":%s,%s`, gjson.GetBytes(done.Body, "messages").Raw, counts[1:])
}

// retrieve returns an artifact as Headroom's API does. It is whole, whatever a query asks for.
func (o *Console) retrieve(r *http.Request) (any, error) {
	name := r.PathValue("name")
	content, err := o.program.Artifact(name)
	return map[string]string{"hash": name, "original_content": string(content)}, err
}

// compact answers a conversation with a shorter form of it, and if the query asks for that with a receipt. Nothing is
// sent to a provider.
func (o *Console) compact(w http.ResponseWriter, r *http.Request) {
	done, ok := o.shaped(w, r, o.program.Compact)
	if !ok {
		return
	}
	report := &done.Report
	if report.Err != nil {
		o.fail(w, report.Err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Epitome-Action", report.Action)
	h.Set("X-Epitome-Tokens", fmt.Sprintf("%d>%d", report.TokensBefore.Total(), report.TokensAfter.Total()))
	reason := strings.Join(strings.Fields(report.Reason), " ") // in one line
	if reason != "" {
		h.Set("X-Epitome-Reason", reason)
	}
	body := done.Body
	if r.URL.Query().Get("receipt") != "" {
		body, _ = json.Marshal(map[string]any{"request": json.RawMessage(body), "receipt": done.Receipt()})
	}
	_, _ = w.Write(body) // an error means that the client has left
}
