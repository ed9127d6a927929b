package soak

import (
	"net/http"
	"strings"
	"testing"
)

func TestWhatCrossesBetweenKeysIsTold(t *testing.T) {
	f := func(want, holder, text string) {
		t.Helper()
		got := strings.Join(crossed("a request", holder, []byte(text)), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	f("", "east", "the sacks")
	f("", "east", keptBy("east"))
	f("", "", keptBy(""))
	f(`written for "west"`, "east", keptBy("east")+" "+keptBy("west"))
	f(`written for "west"`, "", keptBy("west"))
	f(`written for ""`, "west", keptBy(""))
}

func TestKeysThatGoOnAreTold(t *testing.T) {
	f := func(want int, header, body string) {
		t.Helper()
		r := &http.Request{Header: http.Header{"Authorization": {header}}}
		if got := leaked("a request", r, []byte(body)); len(got) != want {
			t.Errorf("%s, %s: %q", header, body, got)
		}
	}
	f(0, credentialOf(&talk{number: 3, holder: "west"}), `{}`)
	f(1, "Bearer "+keyOf("west"), `{}`)
	f(2, "Bearer "+keyOf("west"), `{"user":"`+keyOf("east")+`"}`)
}

// Who holds a conversation changes nothing of what is said in it.
func TestEqualConversationsAreHeldByEachClient(t *testing.T) {
	var first *talk
	for _, holder := range holders {
		other := newTalk(4, 7)
		other.holder = holder
		for range 5 {
			a, err := newAttempt(other, 1)
			if err != nil {
				t.Fatal(err)
			}
			other.hear(a.words())
		}
		if holder == holders[0] {
			first = other
			continue
		}
		mine, err := first.body(false)
		if err != nil {
			t.Fatal(err)
		}
		if its, err := other.body(false); err != nil || string(its) != string(mine) {
			t.Errorf("%s has another conversation than %s: %v", holder, holders[0], err)
		}
		if credentialOf(first) == credentialOf(other) {
			t.Error("the provider cannot tell them apart")
		}
	}
}
