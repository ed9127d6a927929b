package command

import (
	"errors"
	"testing"
)

func TestCheckTellsWhatAnEpitomeCannotUse(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		got := ""
		if err := errors.Join(troubles([]byte(answer))...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("of %s it says %q, want %q", answer, got, want)
		}
	}
	f(`{"status":"ready"}`, "")
	f(`{"bucket":"answers","shared_store":"answers","status":"ready"}`, "")
	f(`{"artifacts":"full","bucket":"away","status":"ready"}`,
		"artifacts: full; 'epitome stats' says what follows from that\n"+
			"bucket: away; 'epitome stats' says what follows from that")
	f(`{"bucket":"refuses","status":"ready"}`, "bucket: refuses; 'epitome stats' says what follows from that")
	f(`{"status":"ready","store":"memory"}`, "store: memory; 'epitome stats' says what follows from that")
	f(`ready`, "")
}
