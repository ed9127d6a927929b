// Package account is what a running epitome has done to a conversation, asked of it.
//
// It promises that it asks as the owner, within a bound of time and size, and that it is told whole or not at all.
package account

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"epitome/console/story"
	"epitome/console/terminal"
	"epitome/instance"
)

const (
	storyTime     = 20 * time.Second // for all questions together
	mostStory     = 64 << 20         // bytes of an answer that are read
	mostDecisions = 20               // turns of which each edit is asked for
)

// ConversationOf asks one epitome for the id of the conversation of an exchange, by the number that it has for it.
func ConversationOf(card *instance.Card, exchange string) (id string, err error) {
	var e struct{ Conversation string }
	if err := answerOf(context.Background(), card, "/-/api/exchanges/"+exchange, &e); err != nil {
		return "", err
	}
	if e.Conversation == "" {
		return "", fmt.Errorf("the epitome on %s had it as a request without a conversation", card.Listen)
	}
	return e.Conversation, nil
}

// Ask asks one epitome for a conversation, and for its edits as its owner.
func Ask(card *instance.Card, id string) (a terminal.Account, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), storyTime)
	defer cancel()
	of := "/-/api/conversations/" + url.PathEscape(id)
	if err := answerOf(ctx, card, of, &a.Conversation); err != nil {
		return a, err
	}
	if err := answerOf(ctx, card, of+"/edits", &a.Edits); err != nil {
		return a, err
	}
	a.Decisions = []story.Edits{}
	all := a.Conversation.Exchanges
	for i := len(all) - 1; i >= 0 && len(a.Decisions) < mostDecisions; i-- {
		if !all[i].Decided {
			continue
		}
		var e story.Edits
		if err := answerOf(ctx, card, fmt.Sprintf("/-/api/exchanges/%d/edits", all[i].Seq), &e); err != nil {
			return a, err
		}
		a.Decisions = append(a.Decisions, e)
	}
	return a, nil
}

// answerOf asks for JSON as the owner.
func answerOf(ctx context.Context, card *instance.Card, path string, into any) error {
	resp, err := card.Get(ctx, path)
	if err != nil {
		return fmt.Errorf("cannot ask the epitome on %s: %w", card.Listen, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer := io.LimitReader(resp.Body, mostStory)
	if resp.StatusCode != http.StatusOK {
		var said struct {
			Error struct{ Message string }
		}
		_ = json.NewDecoder(answer).Decode(&said) // the status says enough
		return fmt.Errorf("the epitome on %s answers %s: %s", card.Listen, resp.Status, said.Error.Message)
	}
	if err := json.NewDecoder(answer).Decode(into); err != nil {
		return fmt.Errorf("cannot read what the epitome on %s answers: %w", card.Listen, err)
	}
	return nil
}
