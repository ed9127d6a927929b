package daemon

import "epitome/internal/health"

// Parts are what an epitome uses that may fail it while it runs: what is not on its machine, the room on its disk, and
// where its decisions lie.
const (
	sharedPart = "shared_store"
	bucketPart = "bucket"
	roomPart   = "artifacts"
	storePart  = "store"
)

// parts are those that it uses, and whether they answer, or that there is no room, as /-/ready tells it.
func (s *storage) parts() map[string]string {
	all := map[string]string{}
	if s.shared != nil {
		all[sharedPart] = s.shared.State()
	}
	if state := s.shelf.Server(); state != "" {
		all[bucketPart] = state
	}
	if s.isFull() {
		all[roomPart] = "full"
	}
	if s.passing {
		all[storePart] = "memory"
	}
	return all
}

// isFull reports whether the disk has no room for what is taken out, or for what is decided.
func (s *storage) isFull() bool {
	return s.shelf.NoSpace() || s.disk != nil && s.disk.Full()
}

// keeps reports whether what is taken out of conversations can be kept now.
func (s *storage) keeps() bool {
	p := s.parts()
	return p[roomPart] == "" && (p[bucketPart] == "" || p[bucketPart] == health.Answers)
}

// troubles are what a reader of figures should know of them.
func (s *storage) troubles() (notes []string) {
	if s.shared != nil {
		switch s.shared.State() {
		case health.Away:
			notes = append(notes, "the shared store does not answer: nothing new is decided until it does")
		case health.Refuses:
			notes = append(notes, "the shared store has refused something in the last minute, as the log says: nothing "+
				"new is decided while it refuses")
		}
	}
	if state := s.shelf.Server(); state == health.Away || state == health.Refuses {
		notes = append(notes, "the bucket of artifacts cannot be reached or takes nothing, as the log says: nothing new is "+
			"taken out of conversations until their windows fill")
	}
	if s.isFull() {
		notes = append(notes, "the disk has no room: nothing new is taken out of conversations, however full their windows are")
	}
	if s.passing {
		notes = append(notes, "what epitome decides lies in memory, as the log says: conversations stay whole until their "+
			"windows fill, and figures and decisions are lost when it ends")
	}
	return notes
}
