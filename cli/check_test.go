package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/instance"
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

// A program of another version marks the same configuration in another way.
func TestCheckTellsAnEpitomeOfAnotherVersionFromOneWithAnotherConfiguration(t *testing.T) {
	conf := config.Defaults(configtest.Text())
	var said instance.State
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(said)
	}))
	defer there.Close()
	conf.Listen = there.Listener.Addr().String()
	card, err := instance.Pin(t.TempDir(), conf.Listen, false)
	if err != nil {
		t.Fatal(err)
	}
	f := func(want string) {
		t.Helper()
		if got := fmt.Sprint(behind(conf, card)); want == "" && got != "[]" || !strings.Contains(got, want) {
			t.Errorf("it says %s, want %q", got, want)
		}
	}
	said = card.StateOf(conf, false)
	f("")
	said.All = "that of another"
	f("runs with another configuration than this one, flags and environment included: ")
	said.Version = "v0.0.1"
	f("is of another version, v0.0.1, and this is " + instance.Version() + ": start it anew; whether ")
}
