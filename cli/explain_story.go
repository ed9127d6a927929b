package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"epitome/console/inert"
	"epitome/console/story"
	"epitome/console/terminal"
	"epitome/instance"
	"epitome/internal/lazyregexp"
)

// conversationID is how ids of conversations look.
var conversationID = lazyregexp.New(`^[0-9a-f]{16}$`)

// conversation is the id that is asked for; empty if a file is.
func (k explainCmd) conversation() string {
	if k.Conversation != "" || !conversationID().MatchString(k.File) {
		return k.Conversation
	}
	if _, err := os.Stat(k.File); err == nil {
		return ""
	}
	return k.File
}

// exchangeNumber is how numbers of exchanges look.
var exchangeNumber = lazyregexp.New(`^[0-9]{1,15}$`)

// isExchange reports whether the number of an exchange is given in the place of a file.
func (k explainCmd) isExchange() bool {
	if !exchangeNumber().MatchString(k.File) {
		return false
	}
	_, err := os.Stat(k.File)
	return err != nil
}

// explainExchange tells the conversation of an exchange, by the number that pages and the API have for it. Each epitome
// counts its own exchanges: within a run no other one's is meant.
func (k explainCmd) explainExchange(c *cli) error {
	what := "exchange " + k.File
	running, err := c.running("explain " + what)
	if err != nil {
		return err
	}
	return k.askRunning(running, what, func(card *instance.Card) (string, error) {
		return conversationOf(card, k.File)
	})
}

// explainStory tells the conversation with this id, which the epitome that runs with the data folder had, or one that
// "epitome run" has started there. An id is one conversation's alone: any that runs may have had it.
func (k explainCmd) explainStory(c *cli, id string) error {
	what := fmt.Sprintf("conversation %.60q", id)
	running, err := c.running("explain " + what)
	if others := instance.RunningIn(c.folders()...); len(others) > 0 && c.Listen == "" {
		running, err = append(running, others...), nil
	}
	if err != nil {
		return err
	}
	return k.askRunning(running, what, func(*instance.Card) (string, error) { return id, nil })
}

// askRunning tells the conversation that idOf finds at the first of the epitomes that run and know it. what says in
// words what is asked for.
func (k explainCmd) askRunning(running []*instance.Card, what string,
	idOf func(*instance.Card) (string, error)) error {
	var failed error
	for _, card := range running {
		id, err := idOf(card)
		if err != nil {
			failed = err
			continue
		}
		a, err := accountOf(card, id)
		if err == nil {
			return k.printStory(a)
		}
		failed = err
	}
	return fmt.Errorf("cannot explain %s: %w", what, failed)
}

func (k explainCmd) printStory(a terminal.Account) error {
	if k.JSON {
		return inert.Print(os.Stdout, a)
	}
	_, err := os.Stdout.WriteString(a.Text())
	return err
}

// conversationOf asks an epitome for the id of the conversation of an exchange, by the number that it has for it.
func conversationOf(card *instance.Card, exchange string) (id string, err error) {
	var e struct{ Conversation string }
	if err := answerInto(card, "/-/api/exchanges/"+exchange, &e); err != nil {
		return "", err
	}
	if e.Conversation == "" {
		return "", fmt.Errorf("the epitome on %s had it as a request without a conversation", card.Listen)
	}
	return e.Conversation, nil
}

// accountOf asks an epitome for a conversation, and for its edits of the newest 20 turns that had any.
func accountOf(card *instance.Card, id string) (a terminal.Account, err error) {
	of := "/-/api/conversations/" + url.PathEscape(id)
	if err := answerInto(card, of, &a.Conversation); err != nil {
		return a, err
	}
	if err := answerInto(card, of+"/edits", &a.Edits); err != nil {
		return a, err
	}
	a.Decisions = []story.Edits{}
	for _, e := range slices.Backward(a.Conversation.Exchanges) {
		if !e.Decided || len(a.Decisions) == 20 {
			continue
		}
		var edits story.Edits
		if err := answerInto(card, fmt.Sprintf("/-/api/exchanges/%d/edits", e.Seq), &edits); err != nil {
			return a, err
		}
		a.Decisions = append(a.Decisions, edits)
	}
	return a, nil
}

// answerInto asks for JSON.
func answerInto(card *instance.Card, path string, into any) error {
	text, err := card.Answer(path, nil)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if errors.Is(err, instance.ErrNoAnswer) {
		return fmt.Errorf("the epitome on %s does not know it", card.Listen)
	}
	return err
}
