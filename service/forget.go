package service

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
const remains = "The sums of its days stay until epitome starts anew, and so do copies in files of the store until it " +
	"compacts them. Replicas that share the store keep events and requests of their own: forget it there, too."

// Forget removes a conversation from memory, disk, shared store and bucket, and returns how many artifacts that it had
// alone were deleted. Its events go last, as they tell what else there is: after an error it can be called again. A
// request that comes meanwhile may begin the conversation anew.
func (s *Service) Forget(conversation string) (artifacts int, said string, err error) {
	own, others, answers, err := s.keysOf(conversation)
	if err != nil {
		return 0, "", err
	}
	names, err := s.namesIn(own)
	shared, err2 := s.namesIn(others)
	if err := errors.Join(err, err2); err != nil {
		return 0, "", err
	}
	isShared := func(name string, _ bool) bool { return shared[name] }
	maps.DeleteFunc(names, isShared)
	maps.DeleteFunc(own, isShared)
	artifacts, inBucket, err := s.deleteArtifacts(names)
	err = errors.Join(err, s.Store.Delete(answers...))
	if err == nil { // else the artifacts would be unknown
		err = s.forgetDecisions(nil, slices.Collect(maps.Keys(names))) // those of edits among them
	}
	if err == nil { // else the edits would be
		err = errors.Join(s.forgetDecisions(slices.Collect(maps.Keys(own)), nil), s.forgetRequest(conversation))
	}
	if err == nil {
		err = s.Book.Forget(conversation)
	}
	if err != nil {
		return 0, "", err
	}
	said = remains
	if inBucket > 0 {
		said += fmt.Sprintf(" The bucket keeps %s until its lifecycle rule deletes what is old: epitome has no right to "+
			"DeleteObject there.", english.Plural(inBucket, "artifact", ""))
	}
	s.Log.Info("conversation_forgotten", "conversation", conversation, "artifacts", artifacts, "in_bucket", inBucket)
	return artifacts, said, nil
}

// deleteArtifacts deletes the artifacts among names, and returns how many it has deleted, and how many stay in the
// bucket for lack of rights.
func (s *Service) deleteArtifacts(names map[string]bool) (artifacts, inBucket int, err error) {
	for name := range names {
		if !offload.IsName(name) {
			continue
		}
		failed := s.Shelf.Delete(name)
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
func (s *Service) keysOf(conversation string) (own, others map[string]bool, answers []string, err error) {
	own = map[string]bool{}
	kept := map[string]string{} // of others: the newest ones by conversation, those with new edits by themselves
	err = s.Book.Each(func(n journal.Entry) {
		if summary := n.Summary; summary != nil && summary.Conversation == conversation {
			answers = append(answers, summary.Key)
		}
		e := n.Exchange
		switch {
		case e == nil:
		case e.Conversation == conversation:
			own[e.Decision] = true
		case e.Decided:
			kept[e.Decision] = e.Decision
		case e.Decision != "":
			kept[e.Conversation] = e.Decision
		}
	})
	if err == nil && len(own) == 0 {
		err = journal.ErrUnknown
	}
	delete(own, "")
	others = map[string]bool{}
	for _, key := range kept {
		others[key] = true
	}
	return own, others, answers, err
}

// namesIn returns the keys of decisions, and the names of their edits and artifacts.
func (s *Service) namesIn(decisions map[string]bool) (map[string]bool, error) {
	names := map[string]bool{}
	for key := range decisions {
		sent, _, err := s.Observed.At(key) // this ledger has the decisions of both modes
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
func (s *Service) forgetDecisions(keys, edits []string) error {
	return errors.Join(s.Deps.Ledger.Forget(keys, edits), s.Observed.Forget(keys, edits))
}
