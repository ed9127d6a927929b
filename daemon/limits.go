package daemon

import (
	"crypto/rand"
	"time"

	"epitome/proxy/clients"
	"epitome/store/shared"
)

// meetEvery is how often epitomes tell each other what clients have used: a limit may be passed by as much as comes
// within it.
const meetEvery = time.Second

// counterOf counts what clients use: with all that share the store, where several do.
func counterOf(s *storage) clients.Counter {
	if s.shared == nil {
		return clients.NewLocal()
	}
	common := clients.NewCommon(usePool{s.shared, rand.Text()})
	s.every(meetEvery, func() { _ = common.Meet(s.shared.Now(time.Now())) }) // the store's own line in the log says so
	return onTime{common, s.shared}
}

// onTime is a counter by the clock of the store: each epitome's own may be wrong, and spans must begin for all at once.
type onTime struct {
	clients.Counter
	store *shared.Store
}

// Add does what Counter says.
func (c onTime) Add(client string, what clients.Quantity, n int64, now time.Time) (used [2]int64, known bool) {
	return c.Counter.Add(client, what, n, c.store.Now(now))
}

// usePool is the shared store as what several epitomes count together. name is this process's own, so that another run
// of it does not take back what it has told.
type usePool struct {
	store *shared.Store
	name  string
}

// Tell does what Pool says.
func (p usePool) Tell(list []clients.Share) (others []int64, err error) {
	said := make([]shared.Share, len(list))
	for i, s := range list {
		said[i] = shared.Share(s)
	}
	return shared.Tell(p.store, p.name, said)
}
