package scriptedtest

import (
	"net/http"
	"time"
)

// Patience bounds each wait for another goroutine or process. It is long because machines can be busy, not because
// anything takes it.
const Patience = 2 * time.Minute

// Eventually waits for a condition that somebody else brings about, and reports whether it came.
func Eventually(ok func() bool) bool {
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

// Direct asks this machine, never through a forward proxy, each time on a new connection.
func Direct() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
}
