package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// Remembers does what learned.Keeper says.
func (f far) Remembers() bool { return f.said.Enabled != nil && *f.said.Enabled }

// force is whether memories are on: where epitomes run, as those have it, and else as the configuration says.
type force struct {
	on, off []string // where those that run listen
	conf    bool     // as the configuration says
}

// note notes what one that runs has in force. One of an older version does not say.
func (f *force) note(p place) {
	asked, runs := p.(far)
	switch {
	case !runs || asked.said.Enabled == nil:
	case asked.Remembers():
		f.on = append(f.on, asked.card.Listen)
	default:
		f.off = append(f.off, asked.card.Listen)
	}
}

// is reports whether memories are on anywhere.
func (f *force) is() bool { return len(f.on) > 0 || len(f.off) == 0 && f.conf }

// words say it, and what would change it.
func (f *force) words() string {
	const cure = ": enabled = true under [memory] turns them on."
	var said []string
	if len(f.on) > 0 {
		said = append(said, "Memories are on in the epitome on "+strings.Join(f.on, " and on ")+".")
	}
	if len(f.off) > 0 {
		said = append(said, "Memories are off in the epitome on "+strings.Join(f.off, " and on ")+cure)
	}
	switch {
	case len(said) > 0:
	case f.conf:
		said = append(said, "Memories are on by the configuration.")
	default:
		said = append(said, "Memories are off by the configuration"+cure)
	}
	return strings.Join(said, " ")
}

// Forget does what learned.Keeper says.
func (f far) Forget(o memory.Owner, id string) error {
	_, err := f.card.Post(learned.ForgetPath, learned.Forgetting{Owner: o, ID: id, All: id == ""})
	return err
}
