package proxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"epitome/store"
)

// Limits bound what a client, a team or all clients together may use. A number of 0 is no limit.
type Limits struct {
	RequestsPerMinute int     `toml:"requests_per_minute"`
	TokensPerMinute   int     `toml:"tokens_per_minute"` // of requests as they are sent, and of answers
	DollarsPerDay     float64 `toml:"dollars_per_day"`   // of a day in UTC
	Concurrent        int     `toml:"concurrent"`        // requests under way
}

// Check says whether a limit cannot be one.
func (l Limits) Check() error {
	if min(l.RequestsPerMinute, l.TokensPerMinute, l.Concurrent) < 0 || !(l.DollarsPerDay >= 0 && l.DollarsPerDay <= 1e9) {
		return fmt.Errorf("limits must be numbers from 0 on")
	}
	return nil
}

// limited is somebody whose requests have limits.
type limited struct {
	name string // "client alice", "team web" or "all clients"
	Limits
}

// limitsOf returns whose limits hold for the requests of a client.
func (s *settings) limitsOf(client string) []limited {
	team := s.conf.Clients[client].Team
	all := []limited{
		{"client " + client, s.conf.Clients[client].Limits}, {"team " + team, s.conf.Teams[team]},
		{"all clients", s.conf.Everyone},
	}
	return slices.DeleteFunc(all, func(l limited) bool { return l.Limits == Limits{} })
}

// use is what somebody has used. It is stored as JSON.
type use struct {
	Minute   int64 `json:"minute"` // since 1970, of Requests and Tokens
	Requests int   `json:"requests"`
	Tokens   int   `json:"tokens"`
	Day      int64 `json:"day"` // since 1970, of Nano
	Nano     int64 `json:"nano"`
	UnderWay int   `json:"under_way"`
}

// at returns u without the counts of an earlier minute or day. A clock that goes back begins no new one.
func (u use) at(now time.Time) use {
	minute, day := now.Unix()/60, now.Unix()/(24*60*60)
	if minute > u.Minute {
		u.Minute, u.Requests, u.Tokens = minute, 0, 0
	}
	if day > u.Day {
		u.Day, u.Nano = day, 0
	}
	return u
}

// and returns the sum of two uses at the same time.
func (u use) and(v use) use {
	u.Requests += v.Requests
	u.Tokens += v.Tokens
	u.Nano += v.Nano
	u.UnderWay += v.UnderWay
	return u
}

// meter counts what clients use under their limits. Replicas tell each other through their store, behind the requests:
// each one is late by the time between two calls of share.
type meter struct {
	id string // of this process among the replicas

	mu  sync.Mutex
	own map[string]use   // by name, of this process
	all map[string]usage // by process, when this one shared last; not changed
}

// usage is what a process had used when it shared.
type usage struct {
	At   int64          `json:"at"` // seconds since 1970
	Uses map[string]use `json:"uses"`
}

func newMeter(id string) *meter { return &meter{id: id, own: map[string]use{}} }

// known returns what somebody has used. Other processes that had requests of theirs in this minute or the last are taken to
// have used as much since they shared as this one has; those that have ended use nothing more.
func (m *meter) known(now time.Time, name string) use {
	const dead = 40 // seconds since a process has shared
	own, last := m.own[name].at(now), m.all[m.id]
	shared := last.Uses[name].at(now)
	since := use{Requests: own.Requests - shared.Requests, Tokens: own.Tokens - shared.Tokens,
		Nano: own.Nano - shared.Nano, UnderWay: max(0, own.UnderWay-shared.UnderWay)}
	sum := own
	for id, other := range m.all {
		if id == m.id {
			continue
		}
		before := other.Uses[name]
		used := before.at(now)
		switch {
		case last.At-other.At > dead:
			used.UnderWay = 0
		case before.Minute >= now.Unix()/60-1:
			used = used.and(since)
		}
		sum = sum.and(used)
	}
	return sum
}

// admit counts a request that begins, or returns its refusal if one of the limits is reached.
func (m *meter) admit(now time.Time, all []limited) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range all {
		u := m.known(now, l.name)
		limit, seconds := "", 60-now.Unix()%60 // until it is free again
		switch {
		case l.DollarsPerDay > 0 && float64(u.Nano) >= l.DollarsPerDay*1e9:
			limit = fmt.Sprintf("%v dollars a day (dollars_per_day)", l.DollarsPerDay)
			seconds = 24*60*60 - now.Unix()%(24*60*60)
		case l.RequestsPerMinute > 0 && u.Requests >= l.RequestsPerMinute:
			limit = fmt.Sprintf("%d requests a minute (requests_per_minute)", l.RequestsPerMinute)
		case l.TokensPerMinute > 0 && u.Tokens >= l.TokensPerMinute:
			limit = fmt.Sprintf("%d tokens a minute (tokens_per_minute)", l.TokensPerMinute)
		case l.Concurrent > 0 && u.UnderWay >= l.Concurrent:
			limit, seconds = fmt.Sprintf("%d requests at once (concurrent)", l.Concurrent), 1
		default:
			continue
		}
		again := time.Duration(seconds) * time.Second
		return refuse(429, "limit_reached", fmt.Sprintf("%s may use %s: try again in %s", l.name, limit, again),
			fmt.Sprintf("Retry-After: %d\r\n", seconds))
	}
	m.count(now, all, use{Requests: 1, UnderWay: 1})
	return nil
}

// add counts what a request has used, and the end of one that was admitted.
func (m *meter) add(now time.Time, all []limited, more use) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(now, all, more)
}

func (m *meter) count(now time.Time, all []limited, more use) {
	for _, l := range all {
		m.own[l.name] = m.own[l.name].at(now).and(more)
	}
}

// share tells other processes what this one has used, and learns it from them, by a fact of the store that all write.
// After an error this process counts alone, with what it knew of the others before.
func (m *meter) share(now time.Time, s store.Store) error {
	const key, keep = "limits", 25 * time.Hour
	const fresh = 20 // seconds since a process has shared
	old, err := store.Get(s, key)
	if err != nil {
		return err
	}
	all := map[string]usage{}
	_ = json.Unmarshal(old, &all) // there is none at first
	maps.DeleteFunc(all, func(_ string, u usage) bool { return now.Unix()-u.At > int64(keep.Seconds()) })
	last := all[m.id]
	m.mu.Lock()
	own := maps.Clone(m.own)
	all[m.id] = usage{now.Unix(), own}
	m.all = all
	m.mu.Unlock()
	if maps.Equal(last.Uses, own) && now.Unix()-last.At < fresh {
		return nil
	}
	text, _ := json.Marshal(all)          // numbers
	_, err = s.Swap(key, old, text, keep) // if another process was first, the next call is in time
	return err
}
