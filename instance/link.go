package instance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// linkTime bounds how long a proxy may take to answer with a code.
const linkTime = 3 * time.Second

// Pages is the address of the proxy's pages.
func (c *Card) Pages() string { return c.address() + "/-/" }

// LoginLink asks the proxy for a link that lets a browser in once, within life. It is asked for after Ask, which makes
// sure that it is the card's own.
func (c *Card) LoginLink(life time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), linkTime)
	defer cancel()
	body := strings.NewReader(fmt.Sprintf(`{"seconds":%d}`, int(life.Seconds())))
	query := url.Values{"nonce": {rand.Text()}}
	resp, err := c.send(ctx, http.MethodPost, "/-/login/code?"+query.Encode(), body)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed {
		return "", fmt.Errorf("cannot log in to the epitome on %s: it is of an older version, which has no pages; start it again", c.Listen)
	}
	var said struct{ Code string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said); err != nil || said.Code == "" {
		return "", fmt.Errorf("cannot log in to the epitome on %s: it answers %s", c.Listen, resp.Status)
	}
	return c.Pages() + "login#" + said.Code, nil
}

// RunningIn returns the cards of the proxies that run with one of the folders, in the order of the folders. Each has
// proved that its card is its own.
func RunningIn(folders []string) (cards []*Card) {
	for _, folder := range folders {
		c, err := Read(folder)
		if err != nil {
			continue
		}
		if _, err := c.Ask(); err == nil {
			cards = append(cards, c)
		}
	}
	return cards
}
