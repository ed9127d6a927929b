package shared

import (
	"context"
	"crypto/sha1" //nolint:gosec // as the server's scripts have it; it names values, and keeps no secret
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"epitome/store"
)

// form is the first byte of each value on the server. What has another one was written by a newer epitome.
const form = 1

const (
	longest   = 100 * 365 * 24 * time.Hour
	scanChunk = 128 // facts that are read at once
)

var errForm = errors.New("it was written by a newer epitome; run the same one everywhere")

// swap sets a value in the place of one whose hash begins so, or where there is none.
const swap = `
local now = redis.call('GET', KEYS[1])
local old = now and string.sub(redis.sha1hex(now), 1, 16) or ''
if old ~= ARGV[1] then return {0, now} end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return {1, ARGV[2]}`

// name is the key of a fact on the server.
func (s *Store) name(key string) string { return s.prefix + "." + key }

// sealed is a value as it is on the server.
func sealed(value []byte) string { return string(append([]byte{form}, value...)) }

// factOf reads what is on the server.
func factOf(stored string) (store.Fact, error) {
	if stored == "" || stored[0] != form {
		return store.Fact{}, errForm
	}
	return store.Fact{Bytes: []byte(stored[1:]), Version: versionOf(stored)}, nil
}

// Version is the version that a fact of this value has.
func Version(value []byte) uint64 { return versionOf(sealed(value)) }

// versionOf is the beginning of a value's hash.
func versionOf(stored string) uint64 {
	sum := sha1.Sum([]byte(stored)) //nolint:gosec // see above
	v, _ := strconv.ParseUint(hex.EncodeToString(sum[:8]), 16, 64)
	return v
}

// Get does what store.Store says. What cannot be asked for is not found; Find tells the two apart.
func (s *Store) Get(key string) (store.Fact, bool) {
	fact, found, _ := s.Find(key)
	return fact, found
}

// Find returns the fact under key. An error says that it is not known whether there is one.
func (s *Store) Find(key string) (fact store.Fact, found bool, err error) {
	if store.CheckKey(key) != nil {
		return store.Fact{}, false, nil
	}
	var stored string
	err = s.line.ask(func(ctx context.Context) (err error) {
		stored, err = s.client.Get(ctx, s.name(key)).Result()
		found = err == nil
		return err
	})
	if err == nil && found {
		fact, err = factOf(stored)
	}
	if err != nil {
		return store.Fact{}, false, fmt.Errorf("cannot read fact %q: %w", store.Shown(key), err)
	}
	return fact, found, nil
}

// Put does what store.Store says.
func (s *Store) Put(key string, value []byte, keep time.Duration) (uint64, error) {
	stored := sealed(value)
	err := store.Check(key, value, keep)
	if err == nil {
		err = s.line.ask(func(ctx context.Context) error {
			return s.client.Set(ctx, s.name(key), stored, lifeOf(keep)).Err()
		})
	}
	if err != nil {
		return 0, fmt.Errorf("cannot put fact %q: %w", store.Shown(key), err)
	}
	return versionOf(stored), nil
}

// PutIfAbsent does what store.Store says.
func (s *Store) PutIfAbsent(key string, value []byte, keep time.Duration) (store.Fact, bool, error) {
	return s.CompareAndSwap(key, 0, value, keep)
}

// CompareAndSwap does what store.Store says.
func (s *Store) CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (store.Fact, bool, error) {
	fail := func(err error) (store.Fact, bool, error) {
		return store.Fact{}, false, fmt.Errorf("cannot swap fact %q: %w", store.Shown(key), err)
	}
	if err := store.Check(key, value, keep); err != nil {
		return fail(err)
	}
	was := ""
	if old != 0 {
		was = fmt.Sprintf("%016x", old)
	}
	var answer []any
	err := s.line.ask(func(ctx context.Context) (err error) {
		at := []string{s.name(key)}
		answer, err = s.swap.Run(ctx, s.client, at, was, sealed(value), millis(keep)).Slice()
		return err
	})
	if err != nil {
		return fail(err)
	}
	swapped := len(answer) > 0 && answer[0] == int64(1)
	if len(answer) < 2 || answer[1] == nil { // there is none
		return store.Fact{}, false, nil
	}
	standing, _ := answer[1].(string)
	fact, err := factOf(standing)
	if err != nil {
		return fail(err)
	}
	return fact, swapped, nil
}

// Delete does what store.Store says.
func (s *Store) Delete(key string) error {
	err := store.CheckKey(key)
	if err == nil {
		err = s.line.ask(func(ctx context.Context) error { return s.client.Del(ctx, s.name(key)).Err() })
	}
	if err != nil {
		return fmt.Errorf("cannot delete fact %q: %w", store.Shown(key), err)
	}
	return nil
}

// Touch does what store.Store says.
func (s *Store) Touch(key string, keep time.Duration) (found bool, err error) {
	if err = store.Check(key, nil, keep); err == nil {
		at := s.name(key)
		err = s.line.ask(func(ctx context.Context) error {
			var there *redis.IntCmd
			_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
				there = p.Exists(ctx, at)
				p.Do(ctx, "pexpire", at, millis(keep), "gt")
				return nil
			})
			found = err == nil && there.Val() == 1
			return err
		})
	}
	if err != nil {
		return false, fmt.Errorf("cannot touch fact %q: %w", store.Shown(key), err)
	}
	return found, nil
}

// Scan does what store.Store says.
func (s *Store) Scan(prefix string, visit func(key string, fact store.Fact) bool) error {
	keys, err := s.keys(prefix)
	for len(keys) > 0 && err == nil {
		some := keys[:min(scanChunk, len(keys))]
		keys = keys[len(some):]
		var answers []*redis.StringCmd
		err = s.line.ask(func(ctx context.Context) error {
			answers = answers[:0]
			_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
				for _, key := range some {
					answers = append(answers, p.Get(ctx, key))
				}
				return nil
			})
			return err
		})
		for i := 0; i < len(answers) && err == nil; i++ {
			fact, wrong := factOf(answers[i].Val())
			if answers[i].Err() == nil && wrong == nil && !visit(some[i][len(s.prefix)+1:], fact) {
				return nil
			}
		}
	}
	if err != nil {
		return fmt.Errorf("cannot scan facts %q: %w", store.Shown(prefix), err)
	}
	return nil
}

// keys are the names of all facts whose keys begin so, in order.
func (s *Store) keys(prefix string) ([]string, error) { return names(s, s.name(prefix)) }

// names are the names of all values that begin so, in order. Numbers that users share are no values.
func names(s *Store, prefix string) (all []string, err error) {
	quoted := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(prefix)
	walk := func(ctx context.Context, c redis.UniversalClient) error {
		for cursor := uint64(0); ; {
			var some []string
			err := s.line.ask(func(ctx context.Context) (err error) {
				some, cursor, err = c.ScanType(ctx, cursor, quoted+"*", 1000, "string").Result()
				return err
			})
			all = append(all, some...)
			if err != nil || cursor == 0 || ctx.Err() != nil {
				return err
			}
		}
	}
	if c, ok := s.client.(*redis.ClusterClient); ok {
		err = eachMaster(s.line.life, c, walk)
	} else {
		err = walk(s.line.life, s.client)
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// eachMaster calls walk with each server of a Cluster, one after another.
func eachMaster(
	ctx context.Context, c *redis.ClusterClient, walk func(context.Context, redis.UniversalClient) error,
) error {
	turn := make(chan struct{}, 1)
	return c.ForEachMaster(ctx, func(ctx context.Context, one *redis.Client) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		return walk(ctx, one)
	})
}

// lifeOf is a keep as the server takes it.
func lifeOf(keep time.Duration) time.Duration {
	return max(min(keep, longest).Truncate(time.Millisecond), time.Millisecond)
}

func millis(keep time.Duration) int64 { return lifeOf(keep).Milliseconds() }
