package notes

import (
	"encoding/json"
	"errors"
	"fmt"

	"epitome/config"
	"epitome/console"
	"epitome/console/learned"
	"epitome/daemon"
	"epitome/instance"
	"epitome/summarize/memory"
)

// place is where memories are kept, and who can be asked for them there.
type place = learned.Keeper

// each does something with every place of this user's: epitomes that run, and folders of those that do not.
func each(conf config.Config, do func(place) error) error {
	home, err := conf.DataFolder()
	if err != nil {
		return err
	}
	running := false
	for _, folder := range instance.FoldersIn(home) {
		card := runningIn(folder)
		if card != nil {
			running, err = true, askRunning(card, do)
		} else {
			err = openFolder(conf, folder, do)
		}
		if err != nil {
			return err
		}
	}
	if conf.Store.URL != "" && !running {
		return errors.New("several epitomes share the store of memories, and none of them runs with this data folder: start one first")
	}
	return nil
}

// runningIn is the epitome that runs with the folder; nil if none does.
func runningIn(folder string) *instance.Card {
	card, err := instance.Read(folder)
	if err != nil {
		return nil
	}
	if _, err := card.Ask(); err != nil {
		return nil
	}
	return card
}

// openFolder does it with what an epitome has left in a folder.
func openFolder(conf config.Config, folder string, do func(place) error) error {
	left, err := daemon.OpenLeft(conf, folder)
	if errors.Is(err, console.ErrNoArtifact) { // nothing was ever kept
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(do(left.Memories(conf)), left.Close())
}

// far are the memories of an epitome that runs.
type far struct {
	card *instance.Card
	said learned.Listing
}

// askRunning does it with those of an epitome that runs. One of an older version has none.
func askRunning(card *instance.Card, do func(place) error) error {
	text, err := card.Answer(learned.ListPath, nil)
	if errors.Is(err, instance.ErrNoAnswer) {
		return nil
	}
	if err != nil {
		return err
	}
	f := far{card: card}
	if err := json.Unmarshal(text, &f.said); err != nil {
		return fmt.Errorf("cannot read the answer of the epitome on %s: %w", card.Listen, err)
	}
	return do(f)
}

// List does what learned.Keeper says.
func (f far) List() ([]memory.Kept, error) { return f.said.Memories, nil }

// Elsewhere does what learned.Keeper says.
func (f far) Elsewhere() bool { return f.said.Elsewhere }

// Forget does what learned.Keeper says.
func (f far) Forget(o memory.Owner, id string) error {
	return f.card.Post(learned.ForgetPath, learned.Forgetting{Owner: o, ID: id, All: id == ""})
}
