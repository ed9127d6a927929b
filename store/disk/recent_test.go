package disk

import (
	"fmt"
	"strings"
	"testing"

	"epitome/store/records"
	"epitome/store/storetest"
)

func TestWhatWasReadIsReadAgainWithoutATransaction(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	d := opened(t, storetest.NewClock())
	storetest.Put(t, d, "a", "one")
	storetest.Want(t, d, "a", "one")
	if n := testing.AllocsPerRun(100, func() { d.Get("a") }); n > 1 {
		t.Errorf("%.0f allocations; want the value's alone", n)
	}
}

func TestWhatIsNotThereIsLookedForOnce(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	d := opened(t, storetest.NewClock())
	if _, found := d.Get("a"); found {
		t.Fatal("a new store has a fact")
	}
	if n := testing.AllocsPerRun(100, func() { d.Get("a") }); n > 0 {
		t.Errorf("%.0f allocations; want none", n)
	}
	storetest.Put(t, d, "a", "one")
	storetest.Want(t, d, "a", "one")
}

// one is a record that was found.
func one(version uint64, value []byte) finding {
	return finding{records.Record{Version: version, Value: value}, true}
}

func TestRecentKnowsNothingOlderThanAChange(t *testing.T) {
	var r recent
	_, _, at := r.get("a")
	r.forget("b") // whatever has changed
	r.keep("a", one(1, []byte("old")), at)
	if _, found, _ := r.get("a"); found {
		t.Error("what was read before a change was kept after it")
	}
	_, _, at = r.get("a")
	value := []byte("new")
	r.keep("a", one(2, value), at)
	value[0] = 'x'
	if kept, found, _ := r.get("a"); !found || kept.Version != 2 || string(kept.Value) != "new" {
		t.Errorf("%+v, found %v", kept, found)
	}
	r.forget("a")
	if _, found, _ := r.get("a"); found {
		t.Error("what has changed is still known")
	}
	r.close()
	_, _, at = r.get("a")
	r.keep("a", one(3, nil), at)
	if _, found, _ := r.get("a"); found {
		t.Error("something was kept after the end")
	}
}

func TestRecentIsBounded(t *testing.T) {
	var r recent
	_, _, at := r.get("")
	r.keep("large", one(1, make([]byte, recentValue+1)), at)
	if len(r.young) > 0 {
		t.Error("a large value was kept")
	}
	value := []byte(strings.Repeat("v", recentValue))
	for i := range 1000 {
		r.keep(fmt.Sprint(i), one(1, value), at)
		if _, found, _ := r.get("0"); !found {
			t.Fatalf("what is asked for again and again is gone after %d others", i)
		}
		if n := len(r.young) + len(r.old); n > 2*recentBytes/recentValue {
			t.Fatalf("%d values are kept", n)
		}
	}
}
