package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"epitome/console/story"
)

// Client asks a Book over HTTP. Its methods are the Book's.
type Client struct {
	// Get returns the answer to a GET of that path; ErrNotFound if there is none under it.
	Get func(path string, query url.Values) ([]byte, error)
}

// ErrNotFound says that a Get found nothing.
var ErrNotFound = errors.New("there is no such page")

// Summary returns what became of all exchanges since a time, with the answer as it came. since and by are a query's.
func (c Client) Summary(since, by string) (s story.Summary, answer []byte, err error) {
	query := url.Values{}
	for name, value := range map[string]string{"from": since, "by": by} {
		if value != "" {
			query.Set(name, value)
		}
	}
	answer, err = c.ask(&s, "/-/api/summary", query)
	return s, answer, err
}

// Status returns what a status line shows of a conversation, with the answer as it came; or story.ErrUnknown.
func (c Client) Status(of story.Which) (s story.Status, answer []byte, err error) {
	query := url.Values{}
	for key, value := range map[string]string{"conversation": of.ID, "session": of.Session} {
		if value != "" {
			query.Set(key, value)
		}
	}
	answer, err = c.ask(&s, "/-/status", query)
	return s, answer, err
}

// ask reads the answer to a question into v.
func (c Client) ask(v any, path string, query url.Values) ([]byte, error) {
	answer, err := c.Get(path, query)
	if errors.Is(err, ErrNotFound) {
		return nil, story.ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return nil, fmt.Errorf("cannot read the answer of %s: %w", path, err)
	}
	return answer, nil
}
