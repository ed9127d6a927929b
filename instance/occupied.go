package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"epitome/config"
)

// Occupied is why the address of c cannot be listened on, and says so if that is because an epitome, of whatever data
// folder, does already. Whoever has the address is asked in the way that c would answer in.
func Occupied(c config.Config, err error) error {
	there := &Card{Listen: config.Reachable(c.Listen), TLS: c.TLS.IsSet()}
	if !errors.Is(err, syscall.EADDRINUSE) || !there.isEpitome() {
		return err
	}
	return fmt.Errorf("cannot listen on %s: %w: an epitome runs there; use that one, stop it, or give another address"+
		" with --listen", c.Listen, syscall.EADDRINUSE)
}

// isEpitome reports whether what listens there says that it is one. That is no proof, and enough for an advice.
func (c *Card) isEpitome() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	resp, err := c.Get(ctx, "/-/health", url.Values{})
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct{ Status, Version string }
	err = json.NewDecoder(io.LimitReader(resp.Body, 4096)).Decode(&said)
	return err == nil && resp.StatusCode == http.StatusOK && said.Status == "ok" && said.Version != ""
}
