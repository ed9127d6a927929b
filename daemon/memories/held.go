package memories

import "time"

// What is held of conversations until they are quiet. The oldest go first.
const (
	mostSessions = 64
	mostHeld     = 32 << 20 // bytes of all bodies
)

// held are the sessions that are watched, by scope and conversation.
type held struct {
	list  map[string]session
	bytes int
}

// put holds a session, in the place of what was held under the key.
func (h *held) put(key string, s session) {
	h.drop(key)
	h.list[key] = s
	h.bytes += len(s.body)
	for len(h.list) > mostSessions || h.bytes > mostHeld {
		h.drop(h.first())
	}
}

func (h *held) drop(key string) {
	h.bytes -= len(h.list[key].body)
	delete(h.list, key)
}

func (h *held) clear() {
	clear(h.list)
	h.bytes = 0
}

// first is the key of the session that has been without a request for longest.
func (h *held) first() (key string) {
	for k, s := range h.list {
		if key == "" || s.at.Before(h.list[key].at) {
			key = k
		}
	}
	return key
}

// oldest is when the request of that session came.
func (h *held) oldest() time.Time { return h.list[h.first()].at }

// takeQuiet takes out the sessions whose newest request came up to then.
func (h *held) takeQuiet(then time.Time) map[string]session {
	quiet := map[string]session{}
	for key, s := range h.list {
		if !s.at.After(then) {
			quiet[key] = s
			h.drop(key)
		}
	}
	return quiet
}
