package instance

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// hasEnded looks at a program whose timers have all run that are due.
func hasEnded(l *Leases) bool {
	synctest.Wait()
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func taken(t *testing.T, l *Leases) (release func()) {
	t.Helper()
	release, ok := l.Take()
	if !ok {
		t.Fatal("a lease was refused")
	}
	return release
}

func TestLeasesEndWithoutAFirstUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(true)
		time.Sleep(firstLease - time.Nanosecond)
		if hasEnded(&l) {
			t.Fatal("ended before the first user had its time to come")
		}
		time.Sleep(time.Nanosecond)
		if !hasEnded(&l) {
			t.Fatal("lives on although no user has come")
		}
	})
}

func TestLeasesEndAfterTheLastUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(true)
		first, second := taken(t, &l), taken(t, &l)
		time.Sleep(2 * firstLease)
		first()
		time.Sleep(2 * firstLease)
		if hasEnded(&l) {
			t.Fatal("ended while there was a user")
		}
		second()
		time.Sleep(nextLease - time.Nanosecond)
		if hasEnded(&l) {
			t.Fatal("ended before another user had its time to come")
		}
		third := taken(t, &l)
		time.Sleep(2 * nextLease)
		if hasEnded(&l) {
			t.Fatal("ended although another user had come in time")
		}
		third()
		time.Sleep(nextLease)
		if !hasEnded(&l) {
			t.Fatal("lives on after its last user")
		}
		if _, ok := l.Take(); ok {
			t.Fatal("took a user after the end")
		}
	})
}

func TestLeasesEndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(true)
		l.end()
		l.end() // a timer may fire while another end is under way
		if !hasEnded(&l) {
			t.Fatal("lives on")
		}
	})
}

func TestLeasesOfAProgramOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(false)
		taken(t, &l)()
		time.Sleep(2 * firstLease)
		if hasEnded(&l) {
			t.Fatal("a program that nobody leased ended with a user")
		}
	})
}

func TestLeasesOfManyUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(true)
		var users sync.WaitGroup
		for range 50 {
			users.Go(func() {
				release := taken(t, &l)
				time.Sleep(nextLease)
				release()
			})
		}
		users.Wait()
		if hasEnded(&l) || l.holders != 0 {
			t.Fatalf("after all users have left: ended %v, holders %d", hasEnded(&l), l.holders)
		}
		time.Sleep(nextLease)
		if !hasEnded(&l) {
			t.Fatal("lives on after its last user")
		}
	})
}
