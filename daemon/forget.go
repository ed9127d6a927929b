package daemon

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"epitome/event/journal"
	"epitome/offload"
)

// remains says what stays of a conversation that is forgotten.
const remains = "The sums of its days stay, and so do copies in files of the store until it compacts them. Replicas " +
	"that share the store keep events and requests of their own: forget it there, too."

// forget removes a conversation from memory, disk, shared store and bucket, and returns how many artifacts it had
// alone. Its events go last, as they tell what else there is: after an error it can be called again. A request that
// comes meanwhile may begin the conversation anew.
func (d *Daemon) forget(conversation string) (artifacts int, said string, err error) {
	decisions, answers, err := d.keysOf(conversation)
	if err != nil {
		return 0, "", err
	}
	own := map[string]bool{} // decisions, their edits and artifacts, as far as no other conversation has them
	for _, isOther := range []bool{false, true} {
		for of, key := range decisions {
			if id, _, _ := strings.Cut(of, " "); isOther == (id == conversation) {
				continue
			}
			sent, _, err := d.observed.At(key) // this ledger has the decisions of both modes
			if err != nil {
				return 0, "", err
			}
			names := []string{key}
			for _, e := range sent.Edits {
				names = append(append(names, e.Name), e.Artifacts...)
			}
			for _, name := range names {
				if isOther {
					delete(own, name)
				} else {
					own[name] = true
				}
			}
		}
	}
	err = d.storage.store.Delete(answers...)
	for name := range own {
		if offload.IsName(name) {
			artifacts++
			err = errors.Join(err, d.storage.shelf.Delete(name))
		}
	}
	names := slices.Collect(maps.Keys(own)) // those of edits among them
	keys := slices.DeleteFunc(slices.Collect(maps.Values(decisions)), func(key string) bool { return !own[key] })
	if err == nil { // else the artifacts would be unknown
		err = d.forgetDecisions(nil, names)
	}
	if err == nil { // else the edits would be
		err = errors.Join(d.forgetDecisions(keys, nil), d.forgetRequests(conversation))
	}
	if err == nil {
		err = d.book.Forget(conversation)
	}
	if err != nil {
		return 0, "", err
	}
	d.log.Info("conversation_forgotten", "conversation", conversation, "artifacts", artifacts)
	return artifacts, remains, nil
}

// keysOf returns keys in the store: of decisions, the newest by conversation, and by conversation and key those with
// new edits and all of the given one; and of models' answers for that one. The error is journal.ErrUnknown if it has no
// event.
func (d *Daemon) keysOf(conversation string) (decisions map[string]string, answers []string, err error) {
	decisions = map[string]string{}
	err = d.book.Each(func(n journal.Entry) {
		if s := n.Summary; s != nil && s.Conversation == conversation {
			answers = append(answers, s.Key)
		}
		e := n.Exchange
		if e == nil {
			return
		}
		decisions[e.Conversation] = cmp.Or(e.Decision, decisions[e.Conversation])
		if e.Decided || e.Conversation == conversation {
			decisions[e.Conversation+" "+e.Decision] = e.Decision
		}
	})
	if _, found := decisions[conversation]; err == nil && !found {
		err = journal.ErrUnknown
	}
	return decisions, answers, err
}

// forgetDecisions removes decisions and edits of both modes.
func (d *Daemon) forgetDecisions(keys, edits []string) error {
	return errors.Join(d.deps.Ledger.Forget(keys, edits), d.observed.Forget(keys, edits))
}

// forgetRequests removes the newest requests of a conversation.
func (d *Daemon) forgetRequests(conversation string) error {
	d.requests.Lock() // so that none is being written
	defer d.requests.Unlock()
	d.live.Drop(conversation)
	return os.RemoveAll(filepath.Join(d.requests.folder, conversation)) // which may not be there
}
