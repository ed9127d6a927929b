package sessions

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
)

func made(t *testing.T, seed uint64, number int) (c Conversation) {
	t.Helper()
	if err := Make(seed, number, func(made Conversation) error { c = made; return nil }); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMadeUpSessionsAreSound(t *testing.T) {
	var pauses, all int
	for number := range kinds {
		c := made(t, 1, number)
		q, err := chat.Dialect{}.Read(c.Body, nil)
		if err != nil || unsound(c) != nil {
			t.Fatalf("%s: %v, %v", c.Name, err, unsound(c))
		}
		requests := 0
		for _, it := range q.Items {
			if it.Role == conversation.Assistant {
				requests++
			}
		}
		if kind := kinds[number]; requests < kind.least-1 || requests > kind.most+40 {
			t.Errorf("%s: %d requests", c.Name, requests)
		}
		if !slices.IsSortedFunc(c.Times, time.Time.Compare) {
			t.Errorf("%s: time goes back", c.Name)
		}
		for i := 1; i < len(c.Times); i++ {
			if all++; c.Times[i].Sub(c.Times[i-1]) > 5*time.Minute {
				pauses++
			}
		}
	}
	if pauses == 0 || pauses*20 > all {
		t.Errorf("%d of %d messages come after a long pause", pauses, all)
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	sum := func(c Conversation) [32]byte {
		times, err := json.Marshal(c.Times)
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(append(times, c.Body...))
	}
	seen := map[[32]byte]bool{}
	for number := range kinds {
		one, again, other := made(t, 7, number), made(t, 7, number), made(t, 8, number)
		if sum(one) != sum(again) || one.Name != again.Name {
			t.Errorf("%s is not the same again", one.Name)
		}
		if bytes.Equal(one.Body, other.Body) || seen[sum(one)] {
			t.Errorf("%s is the same as another", one.Name)
		}
		seen[sum(one)] = true
	}
}
