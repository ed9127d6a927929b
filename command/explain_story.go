package command

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"time"

	"epitome/console/story"
	"epitome/console/terminal"
	"epitome/instance"
)

// conversationID is how ids of conversations look.
var conversationID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// conversation is the id that is asked for; empty if a file is.
func (k explainCmd) conversation() string {
	if k.Conversation != "" || !conversationID.MatchString(k.File) {
		return k.Conversation
	}
	if _, err := os.Stat(k.File); err == nil {
		return ""
	}
	return k.File
}

// exchangeNumber is how numbers of exchanges look.
var exchangeNumber = regexp.MustCompile(`^[0-9]{1,15}$`)

// isExchange reports whether the number of an exchange is given in the place of a file.
func (k explainCmd) isExchange() bool {
	if !exchangeNumber.MatchString(k.File) {
		return false
	}
	_, err := os.Stat(k.File)
	return err != nil
}

// explainExchange tells the conversation of an exchange, by the number that pages and the API have for it.
func (k explainCmd) explainExchange(c *cli) error {
	return k.askRunning(c, "exchange "+k.File, func(card *instance.Card) (string, error) {
		var e struct{ Conversation string }
		if err := answerOf(context.Background(), card, "/-/api/exchanges/"+k.File, &e); err != nil {
			return "", err
		}
		if e.Conversation == "" {
			return "", fmt.Errorf("the epitome on %s had it as a request without a conversation", card.Listen)
		}
		return e.Conversation, nil
	})
}

// explainStory tells the conversation with this id, which the epitome that runs with the data folder had, or one that
// "epitome run" has started there.
func (k explainCmd) explainStory(c *cli, id string) error {
	return k.askRunning(c, fmt.Sprintf("conversation %.60q", id), func(*instance.Card) (string, error) { return id, nil })
}

// askRunning tells the conversation that idOf finds at the first running epitome that knows it. what says in words what
// is asked for.
func (k explainCmd) askRunning(c *cli, what string, idOf func(*instance.Card) (string, error)) error {
	conf, err := c.load()
	if err != nil {
		return err
	}
	home, err := conf.DataFolder()
	if err != nil {
		return err
	}
	running := instance.RunningIn(instance.FoldersIn(home))
	if len(running) == 0 {
		return fmt.Errorf("cannot explain %s: no epitome runs with the data folder %s; start one with "+
			"'epitome serve', or give the --data or --config that it was started with", what, home)
	}
	var failed error
	for _, card := range running {
		id, err := idOf(card)
		if err != nil {
			failed = err
			continue
		}
		a, err := storyFrom(card, id)
		if err == nil {
			return k.printStory(a)
		}
		failed = err
	}
	return fmt.Errorf("cannot explain %s: %w", what, failed)
}

const (
	storyTime     = 20 * time.Second // for all questions together
	mostStory     = 64 << 20         // bytes of an answer that are read
	mostDecisions = 20               // turns of which each edit is asked for
)

// storyFrom asks one epitome for a conversation, and for its edits as its owner.
func storyFrom(card *instance.Card, id string) (a terminal.Account, err error) {
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
	resp, err := card.Get(ctx, path, url.Values{"nonce": {rand.Text()}})
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

func (k explainCmd) printStory(a terminal.Account) error {
	if k.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(a)
	}
	_, err := os.Stdout.WriteString(a.Text())
	return err
}
