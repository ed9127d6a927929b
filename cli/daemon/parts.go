package daemon

import (
	"fmt"
	"maps"
	"slices"

	"epitome/internal/health"
)

// Names of the parts of a storage that may fail while epitome runs.
const (
	sharedPart = "shared_store"
	bucketPart = "bucket"
	roomPart   = "artifacts"
	storePart  = "store"
)

// parts returns the state of each part that is used and may fail, as /-/ready tells it.
func (s *storage) parts() map[string]string {
	all := map[string]string{}
	if s.shared != nil {
		all[sharedPart] = s.shared.State()
	}
	if state := s.shelf.Server(); state != "" {
		all[bucketPart] = state
	}
	if s.shelf.NoSpace() || s.disk != nil && s.disk.Full() {
		all[roomPart] = "full"
	}
	if s.passing {
		all[storePart] = "memory"
	}
	return all
}

// keeps reports whether artifacts can be kept now.
func (s *storage) keeps() bool {
	p := s.parts()
	return p[roomPart] == "" && (p[bucketPart] == "" || p[bucketPart] == health.Answers)
}

// troubles returns a sentence for each part that fails, for readers of figures.
func (s *storage) troubles() (notes []string) {
	effects := map[string]string{
		sharedPart: "nothing new is decided",
		bucketPart: "nothing new is taken out of conversations until their windows fill",
		roomPart:   "nothing new is taken out of conversations, however full their windows are",
		storePart:  "conversations stay whole until their windows fill, and decisions are lost when epitome ends",
	}
	parts := s.parts()
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if state := parts[part]; state != health.Answers {
			notes = append(notes, fmt.Sprintf("%s: %s, as the log says: %s", part, state, effects[part]))
		}
	}
	return notes
}
