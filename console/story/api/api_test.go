package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"epitome/console/access"
	"epitome/console/story"
	"epitome/event"
	"epitome/event/eventtest"
)

// served is a Book with two turns of a conversation, over HTTP.
func served(t *testing.T, change func(e *event.Exchange)) http.Handler {
	t.Helper()
	b := story.New(story.Config{Version: "v1", Keep: time.Hour}, story.Plugs{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Mode: func() string { return "on" },
		Prices: func() story.Prices { return story.Prices{} },
	})
	t.Cleanup(b.Close)
	for range 2 {
		e := eventtest.Conversation()
		e.Start = time.Now()
		if change != nil {
			change(&e)
		}
		b.RecordExchange(e)
	}
	mux := http.NewServeMux()
	for path, handler := range Routes(b, edits) {
		mux.Handle("GET "+path, handler)
	}
	return mux
}

// edits knows those of one decision.
func edits(decision string) (story.Edits, error) {
	switch decision {
	case "d1":
		return story.Edits{List: []story.Edit{{Item: 3, Last: 3, Rung: "clear", Artifact: "secret"}}}, nil
	case "":
		return story.Edits{List: []story.Edit{}}, nil
	}
	return story.Edits{}, errors.New("it cannot be read")
}

// ask returns the answer to a GET, and its status.
func ask(h http.Handler, target string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w.Code, w.Body.String()
}

func TestTroublesAreWhatWentWrong(t *testing.T) {
	f := func(status int, want string) {
		t.Helper()
		_, body := ask(served(t, func(e *event.Exchange) { e.Status = status }), "/-/api/troubles")
		if !strings.Contains(body, want) {
			t.Errorf("of answers with %d: %s", status, body)
		}
	}
	f(200, `{"items":[],"total":0}`)
	f(529, `"seq":1,`)
	f(529, `"total":2}`)
}

func TestAnswersAreWhatTheBookSays(t *testing.T) {
	h := served(t, nil)
	f := func(target string, status int, parts ...string) {
		t.Helper()
		got, body := ask(h, target)
		if got != status || !json.Valid([]byte(body)) {
			t.Errorf("%s: %d %s", target, got, body)
		}
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s lacks %s: %s", target, part, body)
			}
		}
	}
	f("/-/api/summary", 200, `"exchanges":2`, `"tokens_before":642`, `"by":"day"`)
	f("/-/api/summary?from=7d&to=2099-01-01&by=model", 200, `"key":"m"`, `"by":"model"`)
	f("/-/api/summary?from=1h&by=conversation", 200, `"key":"c1"`)
	f("/-/api/summary?to=2020-01-01T00:00:00Z", 200, `"exchanges":0`, `"rows":[]`)
	f("/-/api/summary?by=moon", 400, "by is one of day")
	f("/-/api/summary?from=d", 400, "cannot read the time")
	f("/-/api/summary?to=yesterday", 400, `cannot read the time \"yesterday\"`)
	f("/-/api/conversations", 200, `"id":"c1"`, `"total":1`)
	f("/-/api/conversations?filter=none", 200, `"items":[]`, `"total":0`)
	f("/-/api/conversations?sort=moon", 400, "sort is one of last")
	f("/-/api/conversations/c1", 200, `"turns":2`, `"turn":2`, `"seq":1`)
	f("/-/api/conversations/c2", 404, "no such conversation")
	f("/-/api/exchanges/2", 200, `"id":"x-1"`, `"reason":"why not more"`)
	f("/-/api/exchanges/3", 404, "no exchange of that number")
	f("/-/api/exchanges/-1", 404, "no exchange of that number")
	f("/-/status", 200, `"conversation":"c1"`, `"saved_usd":null`, `"tokens":25`)
	f("/-/status?latest=1", 200, `"conversation":"c1"`)
	f("/-/status?conversation=c2", 404, "no such conversation")
}

func TestClientHearsWhatTheBookSays(t *testing.T) {
	h := served(t, nil)
	c := Client{Get: func(path string, query url.Values) ([]byte, error) {
		status, body := ask(h, path+"?"+query.Encode())
		if status == 404 {
			return nil, ErrNotFound
		}
		if status != 200 {
			return nil, errors.New(body)
		}
		return []byte(body), nil
	}}
	s, answer, err := c.Summary("7d", "model")
	if err != nil || s.By != "model" || s.Total.Exchanges != 2 || !strings.Contains(string(answer), `"exchanges":2`) {
		t.Errorf("%+v %s %v", s, answer, err)
	}
	if s, _, err := c.Status(story.Which{ID: "c1"}); err != nil || s.Tokens != 25 {
		t.Errorf("%+v %v", s, err)
	}
	if _, _, err := c.Status(story.Which{ID: "c2"}); !errors.Is(err, story.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

func TestHostileTextsStayTexts(t *testing.T) {
	hostile := "<script>alert(1)</script>{{.}}\x1b[31m\u202e\x00\xff\u2028" + strings.Repeat("m", 1<<20)
	h := served(t, func(e *event.Exchange) {
		e.Model, e.Path, e.Method, e.Err, e.Reason, e.Upstream, e.Conversation =
			hostile, hostile, hostile, hostile, hostile, hostile, "c1"
	})
	for _, target := range []string{
		"/-/api/summary?by=model", "/-/api/conversations", "/-/api/conversations/c1", "/-/api/exchanges/1", "/-/status",
	} {
		status, body := ask(h, target)
		if status != 200 || !json.Valid([]byte(body)) || len(body) > 64<<10 {
			t.Errorf("%s: %d, %d bytes", target, status, len(body))
		}
		if strings.ContainsAny(body, "<>\x1b\x00\u2028\u202e\x7f") {
			t.Errorf("%s holds what a browser or a terminal may obey: %.300s", target, body)
		}
	}
}

// Edits are told to the owner, and to nobody else.
func TestEditsAreTheOwners(t *testing.T) {
	h := served(t, func(e *event.Exchange) { e.Decision = "d1" })
	f := func(h http.Handler, target string, owner bool, status int, part string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, target, nil)
		if owner {
			r = access.AsOwner(r)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code != status || !strings.Contains(body, part) ||
			!owner && strings.Contains(body, "secret") {
			t.Errorf("%s, owner %v: %d %s, want %d and %s", target, owner, w.Code, body, status, part)
		}
	}
	for _, target := range []string{"/-/api/conversations/c1/edits", "/-/api/exchanges/2/edits"} {
		f(h, target, false, 403, "owner")
		f(h, target, true, 200, `"seq":2,"edits":[{"item":3`)
		f(served(t, func(e *event.Exchange) { e.Decision = "d2" }), target, true, 500, "it cannot be read")
		f(served(t, func(e *event.Exchange) { e.Decision = "" }), target, true, 200, `"edits":[]}`)
		f(served(t, func(e *event.Exchange) { e.Decision, e.Action = "", event.ActionBypass }), target, true, 200, "not recorded")
	}
	f(h, "/-/api/exchanges/1/edits", true, 200, `"seq":1`)
	f(h, "/-/api/conversations/none/edits", true, 404, "no such conversation")
	f(h, "/-/api/conversations/none/edits", false, 403, "owner")
	f(h, "/-/api/exchanges/9/edits", true, 404, "no exchange")
	f(h, "/-/api/exchanges/x/edits", true, 404, "no exchange")
}

// The title of a conversation is the user's words: nobody but the owner is told it.
func TestTitleIsForTheOwner(t *testing.T) {
	h := served(t, func(e *event.Exchange) { e.Title, e.Status = "mend the ledger", 500 })
	_, list := ask(h, "/-/api/conversations")
	var page story.Page[story.Conversation]
	if err := json.Unmarshal([]byte(list), &page); err != nil || len(page.Items) != 1 {
		t.Fatal(list, err)
	}
	talk := "/-/api/conversations/" + page.Items[0].ID
	for _, target := range []string{"/-/api/conversations", talk, "/-/api/exchanges/1", "/-/api/troubles", "/-/status", "/-/api/summary"} {
		if status, body := ask(h, target); status != http.StatusOK || strings.Contains(body, "ledger") {
			t.Errorf("%s: %d %s", target, status, body)
		}
	}
	for _, target := range []string{"/-/api/conversations", talk} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, access.AsOwner(httptest.NewRequest(http.MethodGet, target, nil)))
		if !strings.Contains(w.Body.String(), "mend the ledger") {
			t.Errorf("%s does not tell the owner: %s", target, w.Body)
		}
	}
}
