package daemon

import "time"

// Parts are what an epitome uses that is not on its machine.
const (
	sharedPart = "shared_store"
	bucketPart = "bucket"
)

// parts are those that it uses, and whether they answer, as /-/ready tells it.
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
	}
	return all
}

// troubles are what a reader of figures should know of them.
func (s *storage) troubles() (notes []string) {
	if s.shared != nil {
		if state := s.shared.State(); !state.Up {
			notes = append(notes, "the shared store has not answered since "+state.Since.Format(time.TimeOnly)+
				": nothing new is decided until it does")
		}
	}
	if s.bucket != nil && s.bucket.Away() {
		notes = append(notes, "the bucket of artifacts cannot be reached: nothing new is taken out of conversations until "+
			"their windows fill")
	}
	return notes
}
