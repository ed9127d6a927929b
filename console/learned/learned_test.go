package learned

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"epitome/console/access"
	"epitome/inject"
)

// keeper notes what it is to forget.
type keeper struct {
	all       []inject.Notes
	forgotten []string
	fail      error
}

func (k *keeper) List() ([]inject.Notes, error) { return k.all, k.fail }

func (k *keeper) Forget(o inject.Owner, id string) error {
	k.forgotten = append(k.forgotten, o.Scope+"|"+o.Project+"|"+id)
	return k.fail
}

func (k *keeper) On() bool { return len(k.all) > 0 }

// ask asks as the owner, or as a stranger.
func ask(k *keeper, owner bool, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if owner {
		r = access.AsOwner(r)
	}
	if method == http.MethodPost {
		path = "POST " + path
	}
	w := httptest.NewRecorder()
	Routes(k)[path].ServeHTTP(w, r)
	return w
}

func TestTheOwnerSeesWhatWasLearned(t *testing.T) {
	f := func(k *keeper, owner bool, status int, want string) {
		t.Helper()
		w := ask(k, owner, "GET", ListPath, "")
		if got := strings.TrimSpace(w.Body.String()); w.Code != status || !strings.Contains(got, want) {
			t.Errorf("got %d %s, want %d %s", w.Code, got, status, want)
		}
		if !owner && strings.Contains(w.Body.String(), "8080") {
			t.Errorf("a stranger sees %s", w.Body)
		}
	}
	kept := inject.Notes{Owner: inject.Owner{Scope: "s", Project: "/shop"},
		Entries: []inject.Entry{{ID: "0123abcd", Kind: "fact", Text: "The port is 8080."}}}
	f(&keeper{}, true, 200, `{"enabled":false,"memories":[]}`)
	f(&keeper{all: []inject.Notes{kept}}, true, 200, `{"enabled":true,"memories":[{"owner":{"scope":"s","project":"/shop"},"entries":[`+
		`{"id":"0123abcd","kind":"fact","text":"The port is 8080.",`)
	f(&keeper{all: []inject.Notes{kept}}, false, 403, "epitome open")
	f(&keeper{fail: errors.New("the disk is gone")}, true, 500, "the disk is gone")
}

func TestOnlyWhatIsNamedIsForgotten(t *testing.T) {
	f := func(fail error, owner bool, body string, status int, want string) {
		t.Helper()
		k := &keeper{fail: fail}
		w := ask(k, owner, "POST", ForgetPath, body)
		if got := strings.Join(k.forgotten, " "); w.Code != status || got != want {
			t.Errorf("%s: got %d %s, forgotten is %q, want %d %q", body, w.Code, w.Body, got, status, want)
		}
	}
	f(nil, true, `{"owner":{"scope":"s","project":"/shop"},"id":"0123abcd"}`, 200, "s|/shop|0123abcd")
	f(nil, true, `{"owner":{"scope":"","project":"/shop"},"all":true}`, 200, "|/shop|")
	f(nil, false, `{"owner":{"scope":"s","project":"/shop"},"id":"0123abcd"}`, 403, "")
	f(nil, true, `{"owner":{"scope":"s","project":"/shop"}}`, 400, "")
	f(nil, true, `{"owner":{"scope":"s","project":"/shop"},"id":"0123abcd","all":true}`, 400, "")
	f(nil, true, `{"owner":{"scope":"s"},"id":"0123abcd"}`, 400, "")
	f(nil, true, `{"owner":{"project":"`+strings.Repeat("a", mostAsked)+`"},"all":true}`, 400, "")
	f(nil, true, `no JSON`, 400, "")
	f(inject.ErrNoEntry, true, `{"owner":{"scope":"s","project":"/shop"},"id":"0123abcd"}`, 404, "s|/shop|0123abcd")
	f(errors.New("the disk is gone"), true, `{"owner":{"project":"/shop"},"all":true}`, 500, "|/shop|")
}
