package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"epitome/console/story"
	"epitome/console/terminal"
	"epitome/instance"
)

// explainConversation prints what a running epitome did to a conversation: each turn, and what the model does not see
// now. id is the conversation's, or the number of one of its exchanges.
func (a *app) explainConversation(id string, asJSON bool) error {
	cards, err := a.allRunning("explain " + id)
	if err != nil {
		return err
	}
	var account terminal.Account
	for _, card := range cards {
		if account, err = askAccount(card, id); err == nil {
			break
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("cannot explain %s: %w", id, err)
	case asJSON:
		return printJSON(account)
	}
	_, err = os.Stdout.WriteString(account.Text())
	return err
}

// askAccount asks an epitome for a conversation, and for the edits of its newest 20 turns that had any.
func askAccount(card *instance.Card, id string) (a terminal.Account, err error) {
	ask := func(path string, into any) {
		if err != nil {
			return
		}
		var answer []byte
		if answer, err = card.Get("/-/api/"+path, nil); err == nil {
			err = json.Unmarshal(answer, into)
		}
	}
	if len(id) < 16 {
		var e struct{ Conversation string }
		ask("exchanges/"+id, &e)
		id = e.Conversation
	}
	ask("conversations/"+id, &a.Conversation)
	ask("conversations/"+id+"/edits", &a.Edits)
	a.Decisions = []story.Edits{}
	for _, e := range slices.Backward(a.Conversation.Exchanges) {
		if e.Decided && len(a.Decisions) < 20 {
			var edits story.Edits
			ask(fmt.Sprintf("exchanges/%d/edits", e.Seq), &edits)
			a.Decisions = append(a.Decisions, edits)
		}
	}
	return a, err
}
