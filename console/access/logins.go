package access

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// CodeLife is how long a code may wait to be used, unless the owner asks for more.
	CodeLife = time.Minute
	// SessionLife is how long a login lasts.
	SessionLife = 12 * time.Hour

	mostCodes    = 64  // the oldest one gives way
	mostSessions = 256 // likewise
)

// sum stands for a secret: what is compared and kept is never the secret itself.
type sum = [sha256.Size]byte

func sumOf(secret string) sum { return sha256.Sum256([]byte(secret)) }

// Logins are the codes and sessions of a program. The zero value has none; its methods may be called from any
// goroutine.
type Logins struct {
	mu       sync.Mutex
	codes    map[sum]code
	sessions map[sum]time.Time // end by session
}

// code is one that was made. It is kept after its use, until its end, to be known when it is shown again.
type code struct {
	end     time.Time
	used    bool
	session sum // that it has opened, or that has used it
}

// NewCode makes a code that is good once, within life of now, or within CodeLife if life is zero; no longer than a
// session.
func (l *Logins) NewCode(life time.Duration) string {
	if life <= 0 {
		life = CodeLife
	}
	text := rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	if l.codes == nil {
		l.codes = make(map[sum]code)
	}
	dropOldest(l.codes, mostCodes, func(c code) time.Time { return c.end })
	l.codes[sumOf(text)] = code{end: time.Now().Add(min(life, SessionLife))}
	return text
}

// Redeem lets in who shows a code, and returns the secret of the session. current is the secret of the session that it
// is shown in, which goes on; empty if there is none. A code that was used already has been seen by two: the session
// that it has opened ends, unless it is the current one.
func (l *Logins) Redeem(text, current string) (session string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	own := sumOf(current)
	_, inside := l.sessions[own]
	key := sumOf(text)
	c, known := l.codes[key]
	switch {
	case known && !c.used && inside:
		session = current
	case known && !c.used:
		session = l.open()
	case known && c.session != own:
		delete(l.sessions, c.session)
		return "", false
	default:
		return current, inside
	}
	c.used, c.session = true, sumOf(session)
	l.codes[key] = c
	return session, true
}

// Open makes a session and returns its secret.
func (l *Logins) Open() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	return l.open()
}

func (l *Logins) open() string {
	if l.sessions == nil {
		l.sessions = make(map[sum]time.Time)
	}
	dropOldest(l.sessions, mostSessions, func(end time.Time) time.Time { return end })
	secret := rand.Text()
	l.sessions[sumOf(secret)] = time.Now().Add(SessionLife)
	return secret
}

// Has reports whether a session with this secret is open.
func (l *Logins) Has(secret string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	end, ok := l.sessions[sumOf(secret)]
	return ok && time.Now().Before(end)
}

// Close ends the session with this secret.
func (l *Logins) Close(secret string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, sumOf(secret))
}

// CloseAll ends all sessions, and no code is good any more.
func (l *Logins) CloseAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.sessions)
	clear(l.codes)
}

// forget drops what is over.
func (l *Logins) forget() {
	now := time.Now()
	for key, c := range l.codes {
		if !now.Before(c.end) {
			delete(l.codes, key)
		}
	}
	for key, end := range l.sessions {
		if !now.Before(end) {
			delete(l.sessions, key)
		}
	}
}

// dropOldest makes room for one more among at most so many.
func dropOldest[V any](of map[sum]V, most int, end func(V) time.Time) {
	for len(of) >= most {
		var oldest sum
		first := true
		for key, v := range of {
			if first || end(v).Before(end(of[oldest])) {
				oldest, first = key, false
			}
		}
		delete(of, oldest)
	}
}
