package daemon

import "time"

// What is held of conversations until they are quiet. The oldest go first.
const (
	mostSessions = 64
	mostHeld     = 32 << 20 // bytes of all bodies
)

// heldSessions are the sessions that are watched, by scope and conversation.
type heldSessions struct {
	list  map[string]quietSession
	bytes int
}

// put holds a session, in the place of what was held under the key.
func (h *heldSessions) put(key string, s quietSession) {
	h.drop(key)
	h.list[key] = s
	h.bytes += len(s.body)
	for len(h.list) > mostSessions || h.bytes > mostHeld {
		h.drop(h.first())
	}
}

func (h *heldSessions) drop(key string) {
	h.bytes -= len(h.list[key].body)
	delete(h.list, key)
}

func (h *heldSessions) clear() {
	clear(h.list)
	h.bytes = 0
}

// first is the key of the session that has been without a request for longest.
func (h *heldSessions) first() (key string) {
	for k, s := range h.list {
		if key == "" || s.at.Before(h.list[key].at) {
			key = k
		}
	}
	return key
}

// oldest is when the request of that session came.
func (h *heldSessions) oldest() time.Time { return h.list[h.first()].at }

// takeQuiet takes out the sessions whose newest request came up to then.
func (h *heldSessions) takeQuiet(then time.Time) map[string]quietSession {
	quiet := map[string]quietSession{}
	for key, s := range h.list {
		if !s.at.After(then) {
			quiet[key] = s
			h.drop(key)
		}
	}
	return quiet
}
