package strict

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi/messages/rules"
)

// asking is a request with a user's text of so many tokens, and a marker behind it.
func asking(model string, tokens int, more string) []byte {
	return []byte(`{"model":"` + model + `","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"` +
		strings.Repeat("abcd", tokens) + `","cache_control":{"type":"ephemeral"}}]}` + more + `]}`)
}

func TestProvidersForgetByTheTimesOfRequests(t *testing.T) {
	f := func(forget bool, pause time.Duration, read int) {
		t.Helper()
		body := asking("m", 2000, "")
		p := New(Signed{Body: body}, rules.CountText, forget)
		at := time.Unix(1000, 0)
		if u, err := p.Take(body, at); err != nil || u.Written != 2004 || u.Total() != 2004 {
			t.Errorf("%+v, %v", u, err)
		}
		other := p.Clone()
		for _, p := range []Judge{p, other} {
			if u, err := p.Take(body, at.Add(pause)); err != nil || u.Read != read || u.Total() != 2004 {
				t.Errorf("after %s: %+v, %v", pause, u, err)
			}
		}
	}
	f(true, 4*time.Minute, 2004)
	f(true, 6*time.Minute, 0)
	f(false, 6*time.Minute, 2004)
}

func TestUsageHasItsPrice(t *testing.T) {
	u := Usage{New: 100, Read: 1000, Written: 10, WrittenLong: 5}
	u.Add(u)
	if got, want := u.Price(0.1, 1.25), 200+200+1.25*20+2*10.0; got != want || u.Total() != 2*1115 {
		t.Errorf("%g for %+v, want %g", got, u, want)
	}
}

func TestThinkingIsSignedWhereItStands(t *testing.T) {
	thinks := `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"a"}]},` +
		`{"role":"user","content":[{"type":"text","text":"b"}]}`
	f := func(model string, change func(string) string, want string) {
		t.Helper()
		body := asking(model, 10, thinks)
		if _, err := New(Signed{Body: body}, rules.CountText, true).Take(body, time.Time{}); err == nil {
			t.Error("thinking is taken that nobody signed")
		}
		s, err := Sign(body, rules.CountText)
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(s, rules.CountText, true).Take([]byte(change(string(s.Body))), time.Time{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", model, err, want)
		}
	}
	same := func(s string) string { return s }
	other := func(s string) string { return strings.Replace(s, "abcdabcd", "abcd", 1) }
	f("claude-opus-4-6", same, "")
	f("claude-opus-4-6", other, "")
	f("claude-opus-5-5", same, "")
	f("claude-opus-5-5", other, "bound to a different conversation")
}

// What is thought behind a request is bound to that, whatever the client's signatures say.
func TestThinkingIsBoundToWhatWasSent(t *testing.T) {
	first := `{"type":"thinking","thinking":"hm","signature":"x"}`
	second := `{"type":"thinking","thinking":"so","signature":"x"}`
	says := func(thought, text string) string {
		return `,{"role":"assistant","content":[` + thought + `{"type":"text","text":"` + text + `"}]},` +
			`{"role":"user","content":[{"type":"text","text":"b"}]}`
	}
	f := func(stripped, heard bool, want string) {
		t.Helper()
		whole, err := Sign(asking("claude-opus-5-5", 10, says(first+",", "a")+says(second+",", "c")), rules.CountText)
		if err != nil {
			t.Fatal(err)
		}
		p := New(whole, rules.CountText, true)
		var signed struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(whole.Body, &signed); err != nil {
			t.Fatal(err)
		}
		take := func(body string) error {
			_, err := p.Take([]byte(strings.Replace(body, "abcdabcd", "abcd", 1)), time.Time{}) // with the beginning changed
			return err
		}
		early := string(asking("claude-opus-5-5", 10, says("", "a")))
		if err := take(early); err != nil {
			t.Fatal(err)
		}
		if heard {
			if err := p.Hear(signed.Messages[3]); err != nil {
				t.Fatal(err)
			}
		}
		body := string(whole.Body)
		if stripped {
			at := strings.Index(body, `{"signature"`)
			body = body[:at] + body[at+strings.Index(body[at:], "},")+2:]
		}
		err = take(body)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("stripped %v, heard %v: %v, want %q", stripped, heard, err, want)
		}
	}
	f(true, true, "")
	second = `{"type":"thinking","thinking":"so","signature":"x"},{"type":"text","text":"d"},{"type":"thinking","thinking":"then","signature":"x"}`
	f(true, true, "")
	f(true, false, "bound to a different conversation")
	f(false, true, "bound to a different conversation")
}
