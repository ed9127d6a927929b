package daemon

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize/english"

	"epitome/event/journal"
	"epitome/offload"
)

// remains says what stays of a conversation that is forgotten.
const remains = "The sums of its days stay, and so do copies in files of the store until it compacts them. Replicas " +
	"that share the store keep events and requests of their own: forget it there, too."

// forget removes a conversation from memory, disk, shared store and bucket, and returns how many artifacts that it had
// alone were deleted. Its events go last, as they tell what else there is: after an error it can be called again. A
// request that comes meanwhile may begin the conversation anew.
func (d *Daemon) forget(conversation string) (artifacts int, said string, err error) {
	own, others, answers, err := d.keysOf(conversation)
	if err != nil {
		return 0, "", err
	}
	names, err := d.namesIn(own)
	if err != nil {
		return 0, "", err
	}
	shared, err := d.namesIn(others)
	if err != nil {
		return 0, "", err
	}
	isShared := func(name string, _ bool) bool { return shared[name] }
	maps.DeleteFunc(names, isShared)
	maps.DeleteFunc(own, isShared)
	artifacts, inBucket, err := d.deleteArtifacts(names)
	err = errors.Join(err, d.storage.store.Delete(answers...))
	if err == nil { // else the artifacts would be unknown
		err = d.forgetDecisions(nil, slices.Collect(maps.Keys(names))) // those of edits among them
	}
	if err == nil { // else the edits would be
		err = errors.Join(d.forgetDecisions(slices.Collect(maps.Keys(own)), nil), d.requests.forget(conversation))
	}
	if err == nil {
		err = d.book.Forget(conversation)
	}
	if err != nil {
		return 0, "", err
	}
	said = remains
	if inBucket > 0 {
		said += fmt.Sprintf(" The bucket keeps %s until its lifecycle rule deletes what is old: epitome has no right to "+
			"DeleteObject there.", english.Plural(inBucket, "artifact", ""))
	}
	d.log.Info("conversation_forgotten", "conversation", conversation, "artifacts", artifacts, "in_bucket", inBucket)
	return artifacts, said, nil
}

// deleteArtifacts deletes the artifacts among names, and returns how many it has deleted, and how many stay in the
// bucket for lack of rights.
func (d *Daemon) deleteArtifacts(names map[string]bool) (artifacts, inBucket int, err error) {
	for name := range names {
		if !offload.IsName(name) {
			continue
		}
		failed := d.storage.shelf.Delete(name)
		if errors.Is(failed, offload.ErrNotDeleted) {
			inBucket++
			continue
		}
		artifacts++
		err = errors.Join(err, failed)
	}
	return artifacts, inBucket, err
}

// keysOf returns keys in the store: of all decisions of a conversation; of those of others, the newest ones and those
// with new edits; and of models' answers for the conversation. The error is journal.ErrUnknown if it has no event.
func (d *Daemon) keysOf(conversation string) (own, others map[string]bool, answers []string, err error) {
	own, others = map[string]bool{}, map[string]bool{}
	newest := map[string]string{} // of others
	isKnown := false
	err = d.book.Each(func(n journal.Entry) {
		if s := n.Summary; s != nil && s.Conversation == conversation {
			answers = append(answers, s.Key)
		}
		e := n.Exchange
		if e == nil {
			return
		}
		switch {
		case e.Conversation == conversation:
			isKnown = true
			own[e.Decision] = true
		case e.Decided:
			others[e.Decision] = true
		case e.Decision != "":
			newest[e.Conversation] = e.Decision
		}
	})
	for _, key := range newest {
		others[key] = true
	}
	delete(own, "")
	if err == nil && !isKnown {
		err = journal.ErrUnknown
	}
	return own, others, answers, err
}

// namesIn returns the keys of decisions, and the names of their edits and artifacts.
func (d *Daemon) namesIn(decisions map[string]bool) (map[string]bool, error) {
	names := map[string]bool{}
	for key := range decisions {
		sent, _, err := d.observed.At(key) // this ledger has the decisions of both modes
		if err != nil {
			return nil, err
		}
		names[key] = true
		for _, e := range sent.Edits {
			names[e.Name] = true
			for _, artifact := range e.Artifacts {
				names[artifact] = true
			}
		}
	}
	return names, nil
}

// forgetDecisions removes decisions and edits of both modes.
func (d *Daemon) forgetDecisions(keys, edits []string) error {
	return errors.Join(d.deps.Ledger.Forget(keys, edits), d.observed.Forget(keys, edits))
}
