package daemon

import (
	"time"

	"epitome/offload"
)

// Parts are what an epitome uses that may fail it while it runs: what is not on its machine, and the room on its disk.
const (
	sharedPart = "shared_store"
	bucketPart = "bucket"
	roomPart   = "artifacts"
)

// parts are those that it uses, and whether they answer, or that there is no room, as /-/ready tells it.
func (s *storage) parts() map[string]string {
	word := func(answers bool) string {
		if answers {
			return "answers"
		}
		return "away"
	}
	all := map[string]string{}
	if s.shared != nil {
		all[sharedPart] = word(s.shared.State().Up)
	}
	if s.bucket != nil {
		all[bucketPart] = word(!s.bucket.Away())
		if all[bucketPart] == "answers" && s.bucket.Refuses() {
			all[bucketPart] = "refuses"
		}
	}
	if offload.Crowded(s.shelf) {
		all[roomPart] = "full"
	}
	return all
}

// keeps reports whether what is taken out of conversations can be kept now.
func (s *storage) keeps() bool {
	p := s.parts()
	return p[roomPart] == "" && (s.bucket == nil || p[bucketPart] == "answers")
}

// troubles are what a reader of figures should know of them.
func (s *storage) troubles() (notes []string) {
	if s.shared != nil {
		if state := s.shared.State(); !state.Up {
			notes = append(notes, "the shared store has not answered since "+state.Since.Format(time.TimeOnly)+
				": nothing new is decided until it does")
		}
	}
	if s.bucket != nil && (s.bucket.Away() || s.bucket.Refuses()) {
		notes = append(notes, "the bucket of artifacts cannot be reached or takes nothing, as the log says: nothing new is "+
			"taken out of conversations until their windows fill")
	}
	if offload.Crowded(s.shelf) {
		notes = append(notes, "the disk has no room: nothing new is taken out of conversations, however full their windows are")
	}
	return notes
}
