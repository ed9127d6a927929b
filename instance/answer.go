package instance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// ErrNoAnswer says that the proxy knows nothing of what it was asked for.
var ErrNoAnswer = errors.New("there is no such thing")

// answerTime bounds how long a proxy may take to answer, and mostAnswer, in bytes, what it says.
const (
	answerTime = 5 * time.Second
	mostAnswer = 64 << 20
)

// Answer is what the proxy says under a path of its pages, as it came. ErrNoAnswer is that it knows of none.
func (c *Card) Answer(path string, query url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	asked := url.Values{"nonce": {rand.Text()}}
	maps.Copy(asked, query)
	resp, err := c.Get(ctx, path, asked)
	if err != nil {
		return nil, fmt.Errorf("cannot ask the epitome on %s: %w", c.Listen, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the answer of the epitome on %s: %w", c.Listen, err)
	case resp.StatusCode == http.StatusNotFound:
		return nil, ErrNoAnswer
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the epitome on %s says: %s", c.Listen, refusalIn(text, resp.Status))
	}
	return text, nil
}

// Post has the proxy do what is said under a path of its own, as its owner.
func (c *Card) Post(path string, said any) error {
	body, err := json.Marshal(said)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	query := url.Values{"nonce": {rand.Text()}}
	resp, err := c.send(ctx, http.MethodPost, path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cannot ask the epitome on %s: %w", c.Listen, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err == nil && resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the epitome on %s says: %s", c.Listen, refusalIn(text, resp.Status))
	}
	return err
}

// refusalIn is the sentence in an answer that refuses.
func refusalIn(text []byte, status string) string {
	var said struct {
		Error struct{ Message string }
	}
	if json.Unmarshal(text, &said) != nil || said.Error.Message == "" {
		return status
	}
	return said.Error.Message
}
