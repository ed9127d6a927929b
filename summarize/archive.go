package summarize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"epitome/summarize/prose"
)

// nameOf returns the key in the store. That of a question may be long and have any bytes in it.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "summary " + hex.EncodeToString(sum[:])
}

// Peek returns an answer that was made before.
func (s *Summarizer) Peek(key string) (p prose.Prose, found bool) {
	fact, found := s.deps.Store.Get(nameOf(key))
	if !found || json.Unmarshal(fact.Bytes, &p) != nil || p.Text == "" {
		return prose.Prose{}, false
	}
	return p, true
}

// put stores an answer unless there is one, and returns the one that is there: everybody gets that.
func (j *job) put(p prose.Prose) (prose.Prose, error) {
	name, keep := nameOf(j.question.Key), j.deps.Keep()
	value, _ := json.Marshal(p) // plain data
	_, won, err := j.deps.Store.PutIfAbsent(name, value, keep)
	if err == nil && !won {
		if earlier, found := j.Peek(j.question.Key); found {
			return earlier, nil
		}
		_, err = j.deps.Store.Put(name, value, keep) // another version of epitome wrote what is there
	}
	if err != nil {
		j.mayPass = true
		return prose.Prose{}, j.fail("it cannot be stored: " + err.Error())
	}
	return p, nil
}

// Leases say which process asks a question, where several share a store.
type Leases interface {
	// Take takes the lease of a key. It returns nil if another process has it, and an error if that is not known or if
	// the question failed elsewhere. failed says for how long nobody may take it again.
	Take(key string) (giveBack func(failed time.Duration), err error)
}

// takeLease waits until no other process asks the question. giveBack is nil if the answer is there, or if the question
// is not to be asked.
func (j *job) takeLease() (giveBack func(failed time.Duration), p prose.Prose, err error) {
	if j.deps.Leases == nil {
		return func(time.Duration) {}, prose.Prose{}, nil
	}
	for {
		if giveBack, err = j.deps.Leases.Take(nameOf(j.question.Key)); err != nil {
			return nil, prose.Prose{}, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		p, found := j.Peek(j.question.Key)
		if found && giveBack != nil { // made just before the lease was free
			giveBack(0)
			giveBack = nil
		}
		if found || giveBack != nil {
			return giveBack, p, nil
		}
		select {
		case <-j.ctx.Done():
			return nil, prose.Prose{}, ErrBusy
		case <-time.After(500 * time.Millisecond):
		}
	}
}
