package load

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

func TestContenderWhosePortIsTakenStartsAtAnother(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	var asked []string
	c := Contender{Name: "subject", Command: []string{exe, "bench", "baseline", "--listen", "{listen}", "--upstream",
		"{upstream}"}}
	c.prepare = func(_, listen, _ string) error {
		if asked = append(asked, listen); len(asked) > 1 {
			return nil
		}
		ln, err := net.Listen("tcp", listen) // another program is quicker
		if err == nil {
			t.Cleanup(func() { _ = ln.Close() })
		}
		return err
	}
	run, err := Launch(t.Context(), c, upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	run.Stop()
	if len(asked) != 2 {
		t.Errorf("it was started at %q, want two ports", asked)
	}
}
