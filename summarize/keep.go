package summarize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"epitome/prose"
)

// nameOf returns where prose lies in the store. A key may be long and have any bytes in it.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "summary " + hex.EncodeToString(sum[:])
}

// archive keeps prose that was made: in a store, and what that does not take in memory.
type archive struct {
	facts Facts
	keep  func() time.Duration // how long prose is kept from when it was used last
	log   *slog.Logger

	mu    sync.Mutex // guards spare
	spare spare
}

// find returns the prose of a question's key, and changes nothing.
func (a *archive) find(key string) (prose.Prose, bool) {
	if fact, found := a.facts.Get(nameOf(key)); found {
		if p, ok := decode(fact.Bytes); ok {
			return p, true
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spare.get(key)
}

// renew lets the prose of key live on. Prose that cannot be touched dies earlier, and is made anew.
func (a *archive) renew(key string) { _, _ = a.facts.Touch(nameOf(key), a.keep()) }

// save puts prose into the store, or where that fails into memory. What stands there already stays, and is returned.
func (a *archive) save(key string, p prose.Prose) prose.Prose {
	standing, err := a.put(nameOf(key), p)
	if err == nil {
		return standing
	}
	a.log.Warn("a summary is kept in memory alone", "why", err.Error())
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spare.put(key, p)
	return p
}

func (a *archive) put(name string, p prose.Prose) (prose.Prose, error) {
	value, err := json.Marshal(p)
	if err != nil {
		return prose.Prose{}, err
	}
	fact, won, err := a.facts.PutIfAbsent(name, value, a.keep())
	if err != nil || won {
		return p, err
	}
	if standing, ok := decode(fact.Bytes); ok {
		return standing, nil
	}
	_, err = a.facts.Put(name, value, a.keep()) // it cannot be read: another version's
	return p, err
}

func decode(value []byte) (prose.Prose, bool) {
	var p prose.Prose
	err := json.Unmarshal(value, &p)
	return p, err == nil && p.Text != ""
}

// spare holds the newest few prose that the store did not take.
type spare struct {
	keys  []string // the oldest first
	prose map[string]prose.Prose
}

// mostSpare bounds the memory for them to 8 MB.
const mostSpare = 32

func (s *spare) get(key string) (prose.Prose, bool) {
	p, ok := s.prose[key]
	return p, ok
}

func (s *spare) put(key string, p prose.Prose) {
	if s.prose == nil {
		s.prose = map[string]prose.Prose{}
	}
	if _, there := s.prose[key]; !there {
		s.keys = append(s.keys, key)
	}
	s.prose[key] = p
	if len(s.keys) > mostSpare {
		delete(s.prose, s.keys[0])
		s.keys = s.keys[1:]
	}
}

// failure is a question that could not be answered.
type failure struct {
	err   error
	until time.Time // it is not asked again before
	times int       // in a row
}

// failures are by the question's key.
type failures map[string]failure

const (
	firstHold    = 30 * time.Second // twice as long after each further failure, up to mostHold
	mostFailures = 1024             // that are remembered
)

// holdError returns the error of a question that failed a while ago, if it is not to be asked again yet.
func (f failures) holdError(key string, now time.Time) error {
	if last, ok := f[key]; ok && now.Before(last.until) {
		return last.err
	}
	return nil
}

// add notes a failure. hold is how long the upstream wants to be left alone, at least.
func (f failures) add(key string, err error, hold time.Duration) {
	last, there := f[key]
	if !there && len(f) >= mostFailures {
		f.forgetOne()
	}
	pause := min(max(firstHold<<min(last.times, 8), hold), mostHold)
	f[key] = failure{err, time.Now().Add(pause), last.times + 1}
}

// forgetOne takes out the failure whose time ends first.
func (f failures) forgetOne() {
	first := ""
	for key, failed := range f {
		if first == "" || failed.until.Before(f[first].until) {
			first = key
		}
	}
	delete(f, first)
}
