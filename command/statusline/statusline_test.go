package statusline

import (
	"os"
	"testing"
	"time"
)

func TestSessionIsWhatTheAgentWrites(t *testing.T) {
	f := func(said string, ends bool, want string) {
		t.Helper()
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close(); _ = out.Close() }()
		if _, err := out.WriteString(said); err != nil {
			t.Fatal(err)
		}
		if ends {
			_ = out.Close()
		}
		long := time.Minute // of what comes at once nothing is lost on a busy machine
		if said == "" {
			long = wait
		}
		if got := within(in, long); got != want {
			t.Errorf("of %q it is %q, want %q", said, got, want)
		}
	}
	f(`{"hook_event_name":"Status","session_id":"s1","model":{"id":"m"}}`, true, "s1")
	f(`{"session_id":"s1"}`, false, "s1") // it need not end
	f("", true, "")
	f("", false, "") // it is not waited for
	f(`{"session_id":`, true, "")
	f(`{"session_id":5}`, true, "")
	f("hello", true, "")
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = none.Close() }()
	if got := Session(none); got != "" {
		t.Errorf("of nothing it is %q", got)
	}
}
