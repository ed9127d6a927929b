package shared

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"epitome/store"
)

// Key is the key of a fact. Facts with one tag lie on one server of a Cluster; Get and its like know those without one.
type Key struct{ Tag, Name string }

// FindAll returns the facts under the keys, in their order, after one question. One whose version is 0 is not there.
// An error says that it is not known which are.
func (s *Store) FindAll(keys []Key) ([]store.Fact, error) {
	facts := make([]store.Fact, len(keys))
	places := map[string][]int{}
	for i, k := range keys {
		places[k.Tag] = append(places[k.Tag], i)
	}
	var stored []any
	err := s.line.ask(func(ctx context.Context) (err error) {
		stored, err = s.read(ctx, keys, places)
		return err
	})
	for i := 0; i < len(stored) && err == nil; i++ {
		if text, there := stored[i].(string); there {
			facts[i], err = factOf(text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %d facts: %w", len(keys), err)
	}
	return facts, nil
}

// read returns what the server has under the keys, whose places go by their tags; nil where it has nothing.
func (s *Store) read(ctx context.Context, keys []Key, places map[string][]int) ([]any, error) {
	stored := make([]any, len(keys))
	many, one := map[string]*redis.SliceCmd{}, map[int]*redis.StringCmd{}
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for tag, at := range places {
			names := make([]string, 0, len(at))
			for _, i := range at {
				names = append(names, s.name(tag, keys[i].Name))
			}
			if tag != "" {
				many[tag] = p.MGet(ctx, names...)
				continue
			}
			for n, i := range at { // these may lie on several servers
				one[i] = p.Get(ctx, names[n])
			}
		}
		return nil
	})
	if err != nil && !isNil(err) {
		return nil, err
	}
	for tag, answer := range many {
		if err := answer.Err(); err != nil {
			return nil, err
		}
		for n, value := range answer.Val() {
			stored[places[tag][n]] = value
		}
	}
	for i, answer := range one {
		switch err := answer.Err(); {
		case err == nil:
			stored[i] = answer.Val()
		case !isNil(err):
			return nil, err
		}
	}
	return stored, nil
}

// Add is a fact that is put if there is none.
type Add struct {
	Key   string
	Value []byte
	Must  bool // what comes behind it is put only if it stands then
}

// addAll puts each value where there is none, in order, up to the first that must stand and does not.
const addAll = `
for i = 1, #KEYS do
	local value = ARGV[2 * i]
	local now = redis.call('SET', KEYS[i], value, 'NX', 'GET', 'PX', ARGV[1])
	if ARGV[2 * i + 1] == '1' and now and now ~= value then return {i, now} end
end
return {0}`

// AddAll puts the facts, all with one tag, in one question and as one change. lost is the place of the first that must
// stand and does not, with what stands there; none of those behind it was put. It is -1 if there is none. To put the
// same once more changes nothing.
func (s *Store) AddAll(tag string, adds []Add, keep time.Duration) (lost int, standing store.Fact, err error) {
	names, values := make([]string, 0, len(adds)), make([]any, 0, 1+2*len(adds))
	values = append(values, millis(keep))
	for _, a := range adds {
		if err := store.Check(a.Key, a.Value, keep); err != nil {
			return -1, store.Fact{}, fmt.Errorf("cannot put fact %q: %w", store.Shown(a.Key), err)
		}
		must := 0
		if a.Must {
			must = 1
		}
		names = append(names, s.name(tag, a.Key))
		values = append(values, sealed(a.Value), must)
	}
	var answer []any
	err = s.line.ask(func(ctx context.Context) (err error) {
		answer, err = s.addAll.Run(ctx, s.client, names, values...).Slice()
		return err
	})
	if err == nil && len(answer) > 1 {
		place, _ := answer[0].(int64)
		text, _ := answer[1].(string)
		standing, err = factOf(text)
		lost = int(place)
	}
	if err != nil {
		return -1, store.Fact{}, fmt.Errorf("cannot put %d facts: %w", len(adds), err)
	}
	return lost - 1, standing, nil
}

// Later is a change of which nobody waits for the outcome: a value to be set, or a fact that is to live on.
type Later struct {
	Key
	Value []byte // nil: the fact lives on
	Keep  time.Duration
	New   bool // the value is set only where there is none
}

// Do makes the changes, in one question.
func (s *Store) Do(list []Later) error {
	return s.line.ask(func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, c := range list {
				switch at := s.name(c.Tag, c.Name); {
				case c.Value == nil:
					p.Do(ctx, "pexpire", at, millis(c.Keep), "gt")
				case c.New:
					p.SetNX(ctx, at, sealed(c.Value), lifeOf(c.Keep))
				default:
					p.Set(ctx, at, sealed(c.Value), lifeOf(c.Keep))
				}
			}
			return nil
		})
		return err
	})
}
