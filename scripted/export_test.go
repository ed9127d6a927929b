package scripted

import "time"

// StartImpatient is Start with another bound on all waits.
func StartImpatient(s *Script, longest time.Duration) (*Upstream, error) {
	u := newUpstream(s)
	u.longest = longest
	return u.start()
}
