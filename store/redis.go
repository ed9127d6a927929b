package store

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	redisPrefix  = "epitome:"             // of all keys on the server
	redisTimeout = time.Second            // of a connection and of an answer, unless the URL says another
	redisLong    = 100 * time.Millisecond // a call that takes longer is slow
	redisAtOnce  = 64                     // calls, and connections to each server, unless the URL says another
)

// Redis is a store that several processes share, in Redis 7.0 or later, or in Valkey. How soon the server makes a fact
// safe is for its own settings. While the server does not answer, calls fail at once with ErrAway.
type Redis struct {
	client redis.UniversalClient
	server *Monitor
}

// CheckRedis returns an error if the URL of a server cannot be used, or does not fit ca, which OpenRedis describes. The
// error does not repeat the URL, which may have a password.
func CheckRedis(server, ca string) error {
	o, err := parseRedis(server)
	if err == nil && o.TLSConfig == nil && ca != "" {
		err = errors.New("must begin with rediss:// where ca is set")
	}
	return err
}

// OpenRedis opens the store on a server. The URL is that of the Redis client libraries:
// redis://USER:PASSWORD@HOST:6379/0, rediss:// with TLS, or unix:///PATH, with options such as ?read_timeout=1s. More
// addresses stand behind ?addr=HOST:PORT: with master_name=NAME all of them are Sentinels (with sentinel_username and
// sentinel_password), else servers of a Cluster. ca is a PEM file with the authorities that are trusted in place of the
// system's; empty for these. That the server does not answer is no error. observe may be nil.
func OpenRedis(server, ca string, log *slog.Logger, observe Observer) (*Redis, error) {
	o, err := parseRedis(server)
	if err == nil && ca != "" {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		o.TLSConfig.RootCAs, err = Authorities(ca)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use the shared store: %w", err)
	}
	r := &Redis{client: redis.NewUniversalClient(o)}
	r.server = NewMonitor(Server{
		Name: "the shared store", Log: log, Ping: r.ping, NoAnswer: isUnanswered, AtOnce: o.PoolSize, Long: redisLong,
		Observe: observe,
	})
	_ = r.server.Do(r.ping) // a server that is away is known from the start
	return r, nil
}

func init() { logging.Disable() } // the library would write to standard error

// parseRedis reads the URL of a server.
func parseRedis(server string) (*redis.UniversalOptions, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, errors.New("it is not a URL; write one such as redis://HOST:6379/0")
	}
	query := u.Query()
	more, master := query["addr"], query.Get("master_name")
	sentinelUser, sentinelPassword := query.Get("sentinel_username"), query.Get("sentinel_password")
	for _, key := range []string{"addr", "master_name", "sentinel_username", "sentinel_password"} {
		query.Del(key)
	}
	u.RawQuery = query.Encode()
	one, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "redis: "))
	}
	if len(more) > 0 && master == "" && one.DB != 0 {
		return nil, errors.New("a Cluster has one database; write no number behind the host")
	}
	return &redis.UniversalOptions{
		Addrs: append([]string{one.Addr}, more...), DB: one.DB, Username: one.Username, Password: one.Password,
		MasterName: master, SentinelUsername: sentinelUser, SentinelPassword: sentinelPassword,
		TLSConfig: one.TLSConfig, PoolSize: cmp.Or(max(one.PoolSize, 0), redisAtOnce),
		PoolTimeout: cmp.Or(one.PoolTimeout, time.Minute),
		DialTimeout: cmp.Or(one.DialTimeout, redisTimeout), ReadTimeout: cmp.Or(one.ReadTimeout, redisTimeout),
		WriteTimeout: cmp.Or(one.WriteTimeout, redisTimeout),
		MaxRetries:   -1, DialerRetries: 1, DisableIdentity: true, // the monitor tries again
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}, nil
}

// Authorities returns those in a PEM file, which are trusted in place of the system's; nil, for these, without a file.
func Authorities(ca string) (*x509.CertPool, error) {
	if ca == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate in PEM", ca)
	}
	return pool, nil
}

func (r *Redis) ping(ctx context.Context) error { return r.client.Ping(ctx).Err() }

// isUnanswered reports whether the server has not answered, or answered that it does not work. That no connection is
// free means that we are busy.
func isUnanswered(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return !errors.Is(err, redis.ErrPoolTimeout)
	}
	word, _, _ := strings.Cut(reply.Error(), " ")
	return slices.Contains([]string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "WRONGPASS", "NOAUTH"}, word)
}

// State returns Answers, Refuses or Away.
func (r *Redis) State() string { return r.server.State() }

// do makes a call about a key.
func (r *Redis) do(verb, key string, call func(ctx context.Context) error) error {
	return wrapped(verb, key, r.server.Do(func(ctx context.Context) error {
		err := call(ctx)
		if errors.Is(err, redis.Nil) { // there is none
			return nil
		}
		return err
	}))
}

func (r *Redis) GetMany(keys []string) ([][]byte, error) { return r.pipeline("read", "get", keys) }

// pipeline sends a command for each key in one round trip, and returns the texts that are answered. A Cluster splits
// it, as the keys lie on several servers.
func (r *Redis) pipeline(verb, command string, keys []string) (texts [][]byte, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	err = r.do(verb, keys[0], func(ctx context.Context) error {
		p := r.client.Pipeline()
		for _, key := range keys {
			p.Do(ctx, command, redisPrefix+key)
		}
		answers, err := p.Exec(ctx)
		texts = make([][]byte, len(answers))
		for i, a := range answers {
			if a.Err() != nil && !errors.Is(a.Err(), redis.Nil) {
				texts = nil
				return a.Err()
			}
			text, isText := a.(*redis.Cmd).Val().(string) // del answers with a number
			if isText {
				texts[i] = []byte(text)
			}
		}
		return err // at most that of a key without a fact
	})
	return texts, err
}

// swap sets a value if the one that is there, or the empty text for none, is the expected one.
var swap = redis.NewScript(`
local now = redis.call('GET', KEYS[1])
if (now or '') ~= ARGV[1] then return now end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return ARGV[2]`)

func (r *Redis) Swap(key string, old, value []byte, keep time.Duration) (standing []byte, err error) {
	if err := check(key, value, keep); err != nil {
		return nil, wrapped("swap", key, err)
	}
	err = r.do("swap", key, func(ctx context.Context) error {
		milliseconds := max(keep.Milliseconds(), 1)
		text, err := swap.Run(ctx, r.client, []string{redisPrefix + key}, old, value, milliseconds).Text()
		if err == nil {
			standing = []byte(text)
		}
		return err
	})
	return standing, err
}

func (r *Redis) Touch(key string, keep time.Duration) error {
	return r.do("touch", key, func(ctx context.Context) error {
		return r.client.Do(ctx, "pexpire", redisPrefix+key, keep.Milliseconds(), "gt").Err()
	})
}

func (r *Redis) Delete(keys ...string) error {
	_, err := r.pipeline("delete", "del", keys)
	return err
}

func (r *Redis) Close() error {
	r.server.Close()
	if err := r.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("cannot close the connections to the shared store: %w", err)
	}
	return nil
}
