package daemon

import (
	"bytes"
	"io"
	"testing"

	"epitome/rewrite"
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
