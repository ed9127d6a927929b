package summarize

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"epitome/summarize/prose"
)

// nameOf returns the key in the store. That of a question may be long and have any bytes in it.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "summary " + hex.EncodeToString(sum[:])
}

// Peek returns an answer that was made before.
func (s *Summarizer) Peek(key string) (p prose.Prose, found bool) {
	value, found, _ := s.deps.Store.Get(nameOf(key))
	if !found || json.Unmarshal(value, &p) != nil || p.Text == "" {
		return prose.Prose{}, false
	}
	return p, true
}

// put stores an answer unless there is one, and returns the one that is there: everybody gets that.
func (j *job) put(p prose.Prose) (prose.Prose, error) {
	name, keep := nameOf(j.question.Key), j.deps.Keep()
	value, _ := json.Marshal(p) // plain data
	standing, err := j.deps.Store.PutIfAbsent(name, value, keep)
	if err == nil && !bytes.Equal(standing, value) {
		if earlier, found := j.Peek(j.question.Key); found {
			return earlier, nil
		}
		err = j.deps.Store.Put(name, value, keep) // another version of epitome wrote what is there
	}
	if err != nil {
		j.mayPass = true
		return prose.Prose{}, j.fail("it cannot be stored: " + err.Error())
	}
	return p, nil
}
