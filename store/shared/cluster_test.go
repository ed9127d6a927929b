package shared_test

import (
	"fmt"
	"testing"
	"time"

	"epitome/store"
	"epitome/store/shared"
	"epitome/store/shared/sharedtest"
	"epitome/store/storetest"
)

// TestClusterKeepsTheContract has facts on three servers: those of one tag together, all others anywhere.
func TestClusterKeepsTheContract(t *testing.T) {
	t.Parallel()
	s := opened(t, patient(sharedtest.StartCluster(t)))
	var keys []shared.Key
	for tag := range 8 {
		var adds []shared.Add
		for n := range 4 {
			key := shared.Key{Tag: fmt.Sprint("tag", tag), Name: fmt.Sprint("k", n)}
			keys = append(keys, key)
			adds = append(adds, shared.Add{Key: key.Name, Value: []byte(key.Tag + key.Name), Must: true})
		}
		if lost, _, err := s.AddAll(fmt.Sprint("tag", tag), adds, time.Hour); lost >= 0 || err != nil {
			t.Fatal(lost, err)
		}
		adds[2].Value = []byte("late")
		lost, standing, err := s.AddAll(fmt.Sprint("tag", tag), adds, time.Hour)
		if lost != 2 || string(standing.Bytes) != fmt.Sprintf("tag%dk2", tag) || err != nil {
			t.Fatal(lost, string(standing.Bytes), err)
		}
	}
	var later []shared.Later
	for n := range 20 {
		name := fmt.Sprintf("plain%02d", n)
		storetest.Put(t, s, name, name)
		keys = append(keys, shared.Key{Name: name})
		later = append(later, shared.Later{Key: shared.Key{Name: name}, Keep: storetest.Month})
	}
	if err := s.Do(later); err != nil {
		t.Error(err)
	}
	facts, err := s.FindAll(append(keys, shared.Key{Name: "nothing"}))
	if err != nil || facts[len(keys)].Version != 0 {
		t.Fatal(facts, err)
	}
	for i, k := range keys {
		if string(facts[i].Bytes) != k.Tag+k.Name {
			t.Errorf("under %v is %q", k, facts[i].Bytes)
		}
	}
	n := 0
	if err := s.Scan("plain", func(key string, fact store.Fact) bool {
		if key != fmt.Sprintf("plain%02d", n) || string(fact.Bytes) != key {
			t.Errorf("%d: %q, %q", n, key, fact.Bytes)
		}
		n++
		return true
	}); err != nil || n != 20 {
		t.Error(n, err)
	}
	fact, _ := s.Get("plain00")
	if _, swapped, err := s.CompareAndSwap("plain00", fact.Version, []byte("other"), time.Hour); !swapped || err != nil {
		t.Error(swapped, err)
	}
	if found, err := s.Touch("plain00", storetest.Month); !found || err != nil {
		t.Error(found, err)
	}
}
