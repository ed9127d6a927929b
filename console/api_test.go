package console

import (
	"net/http/httptest"
	"strings"
	"testing"

	"epitome/event"
	"epitome/inject"
)

func TestAPI(t *testing.T) {
	_, book := streaming(t)
	e := conversed()
	e.Title, e.Status, e.Decision = "mend the ledger", 500, "decision"
	book.RecordExchange(new(e))
	p := listening("127.0.0.1:7070")
	p.Book, p.Memory = book, memoryOf(inject.Owner{Project: secretName})
	p.Service = &source{edits: map[string]event.Edits{"decision": {List: []event.Edit{{Text: "what is sent"}}}}}
	o := show(Config{}, p)
	check := func(w *httptest.ResponseRecorder, status int, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if w.Code != status || !strings.Contains(w.Body.String(), want) {
				t.Errorf("got %d %s, want %d with %q", w.Code, w.Body, status, want)
			}
		}
	}
	check(ask(o, "GET", "/-/api/summary?from=7d&by=model"), 200, `"exchanges":1`, `"key":"m"`)
	check(ask(o, "GET", "/-/api/summary?from=soon"), 400, "cannot read the time")
	check(ask(o, "GET", "/-/api/summary?by=moon"), 400, "use day, model")
	check(ask(o, "GET", "/-/api/conversations?filter=c1&cursor=0"), 200, `"id":"c1"`, `"total":1`)
	check(ask(o, "GET", "/-/api/conversations/c1"), 200, `"exchanges":[{`)
	check(ask(o, "GET", "/-/api/conversations/c9"), 404, "no such conversation")
	check(ask(o, "GET", "/-/api/troubles"), 200, `"total":1`)
	check(ask(o, "GET", "/-/status?conversation=c1"), 200, `"conversation":"c1"`)
	check(ask(o, "GET", "/-/status?conversation=c9"), 404, "no such conversation")

	// The title and the edits are text of the conversation: for the owner.
	for _, target := range []string{"/-/api/conversations", "/-/api/conversations/c1"} {
		check(ask(o, "GET", target, proof), 200, "mend the ledger")
	}
	for _, target := range []string{"/-/api/conversations", "/-/api/conversations/c1",
		"/-/api/troubles", "/-/status", "/-/api/summary"} {
		if w := ask(o, "GET", target); w.Code != 200 || strings.Contains(w.Body.String(), "ledger") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	for _, target := range []string{"/-/api/conversations/c1/edits", "/-/api/conversations/c1/edits?turn=1"} {
		check(ask(o, "GET", target, proof), 200, "what is sent", `"turn":1`)
		check(ask(o, "GET", target), 403, "epitome open")
	}
	check(ask(o, "GET", "/-/api/conversations/c1/edits?turn=2", proof), 404, "has no turn")
	check(ask(o, "GET", "/-/api/memory", proof), 200, secretName)
	check(ask(o, "GET", "/-/api/memory"), 403, "epitome open")
	body := `{"owner":{"project":"` + secretName + `"},"id":"gone"}`
	check(send(o, "/-/api/memory/forget", body), 403, "epitome open")
	check(send(o, "/-/api/memory/forget", body, proof), 404, "epitome_error")
	check(send(o, "/-/api/memory/forget", `{"owner":{"project":"`+secretName+`"},"all":true}`, proof), 200, "forgotten")
	check(send(o, "/-/api/memory/forget", `{"owner":{"project":"p"}}`, proof), 400, "send")
}
