package frame

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"epitome/console/access"
)

// A reader is led to the page to log in as a redirect leads there, and comes back to where they were.
func TestReadersComeBackFromLoggingIn(t *testing.T) {
	for _, target := range []string{"/-/", "/-/conversations?match=a+b%26c&sort=saved", "/-/artifacts/a%2Fb/view"} {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		if got := ReaderOf(r, time.UTC).Login.String(); got != access.LoginPath(r) {
			t.Errorf("%s is left for %s, want %s", target, got, access.LoginPath(r))
		}
	}
}
