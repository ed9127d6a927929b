package daemon

import (
	"bytes"
	"io"
	"testing"
	"time"

	"epitome/rewrite"
	"epitome/store/memory"
)

// What is compacted by hand is decided as what is live has it, becomes no decision, and leaves what its text names on
// the shelf.
func TestCompactingByHandLeavesArtifactsAndNoDecision(t *testing.T) {
	folder := t.TempDir()
	k := keptIn(t, folder, io.Discard)
	defer k.close()
	live := k.live.Shape(askedFor(1))
	done := k.byHand().Shape(askedFor(2))
	if done.Report.Repeated != 1 || !done.Report.Decided || done.Report.Err != nil {
		t.Fatalf("%+v", done.Report)
	}
	if n := len(artifactFiles(folder)); n != 2 {
		t.Errorf("there are %d artifacts", n)
	}
	if again := k.byHand().Shape(askedFor(2)); !bytes.Equal(again.Body, done.Body) || !again.Report.Decided {
		t.Errorf("it is not done anew in the same way: %+v", again.Report)
	}
	for name, next := range map[string]rewrite.Output{"shadow": k.shadow.Shape(askedFor(2)),
		"live": k.live.Shape(askedFor(2))} {
		if !next.Report.Decided || next.Report.Repeated != live.Report.Repeated+1 {
			t.Errorf("%s: it has become a decision: %+v", name, next.Report)
		}
	}
}

func TestCompactingByHandAsksAndTellsNobody(t *testing.T) {
	live := newLedger(memory.New(1<<20, time.Now), time.Hour)
	m := handled(rewrite.Deps{Ledger: live, Summariser: &summariser{}, Tell: &relay{}}, time.Hour)
	if _, ok := m.Summariser.(shadowSummariser); !ok || m.Tell != nil {
		t.Errorf("a model may be asked by %T, or it is told", m.Summariser)
	}
	if m := handled(rewrite.Deps{Ledger: live}, time.Hour); m.Summariser != nil {
		t.Error("where no model is asked there is a summariser")
	}
}

// The artifacts of earlier decisions are in the text as well: they live on with what is live.
func TestCompactingByHandKeepsWhatIsLiveAlive(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	facts := memory.New(1<<20, clock)
	live := newLedger(facts, time.Hour)
	live.now = clock
	if _, _, err := live.Add("k", []byte("one")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(50 * time.Minute)
	if g := handled(rewrite.Deps{Ledger: live}, time.Hour).Ledger; !g.Touch("k") {
		t.Error("nothing was due")
	}
	now = now.Add(50 * time.Minute)
	if _, _, found := live.Get("k"); !found {
		t.Error("what was seen has expired")
	}
}
