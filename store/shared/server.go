package shared

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Server is where the store is, and by what it is reached.
type Server struct {
	// URL is redis://, rediss:// or unix:// for one server, redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME for
	// the one that Sentinels name, redis+cluster://HOST:PORT,HOST:PORT for a Cluster; rediss+… likewise, with TLS.
	URL string

	// SentinelPassword is what Sentinels want to hear. Empty: nothing.
	SentinelPassword string

	// CA, Cert and Key are files of PEM. CA is trusted instead of the system's; Cert and Key say who we are.
	CA, Cert, Key string
}

// place is what a URL says.
type place struct {
	kind           string // redis, sentinel or cluster
	tls            bool
	network        string
	hosts          []string
	user, password string
	master         string // the name by which Sentinels know it
	database       int
	certName       string // that the certificate must have
}

// The kinds of servers.
const (
	single   = "redis"
	sentinel = "sentinel"
	cluster  = "cluster"
)

// Check says what is wrong with s. It repeats no password, and asks nobody.
func (s Server) Check() error {
	p, err := s.parse()
	if err != nil {
		return err
	}
	if (s.Cert == "") != (s.Key == "") {
		return errors.New("a certificate and its key belong together; write both or neither")
	}
	if !p.tls && s.CA+s.Cert != "" {
		return errors.New("it has certificates, and its url no TLS; write a url that begins with rediss")
	}
	if p.kind != sentinel && s.SentinelPassword != "" {
		return errors.New("it has a password for Sentinels, and its url none; write a url that begins with redis+sentinel://")
	}
	return nil
}

// parse reads the URL. Hosts in a list are not what net/url takes for a host.
func (s Server) parse() (p place, err error) {
	scheme, rest, ok := strings.Cut(s.URL, "://")
	p.network = "tcp"
	switch scheme {
	case "unix":
		return parseSocket(rest)
	case "redis", "rediss":
		p.kind = single
	case "redis+sentinel", "rediss+sentinel":
		p.kind = sentinel
	case "redis+cluster", "rediss+cluster":
		p.kind = cluster
	default:
		ok = false
	}
	if !ok {
		return p, errors.New("write a URL such as redis://HOST:6379, rediss://HOST:6380, " +
			"redis+sentinel://HOST:26379,HOST:26379/NAME or redis+cluster://HOST:6379,HOST:6379")
	}
	p.tls = strings.HasPrefix(scheme, "rediss")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		if p.user, p.password, err = readUser(rest[:at]); err != nil {
			return p, err
		}
		rest = rest[at+1:]
	}
	rest, query, _ := strings.Cut(rest, "?")
	hosts, path, _ := strings.Cut(rest, "/")
	port := map[string]string{single: "6379", sentinel: "26379", cluster: "6379"}[p.kind]
	for host := range strings.SplitSeq(hosts, ",") {
		if p.hosts, err = p.addHost(host, port); err != nil {
			return p, err
		}
	}
	if p.kind == single && len(p.hosts) > 1 {
		return p, errors.New("it has several hosts; write redis+sentinel:// or redis+cluster:// before them")
	}
	return p, p.readRest(path, query)
}

func readUser(text string) (user, password string, err error) {
	user, password, _ = strings.Cut(text, ":")
	if user, err = url.PathUnescape(user); err == nil {
		password, err = url.PathUnescape(password)
	}
	if err != nil {
		err = errors.New("its user or password has a % that begins nothing; write %25 for one")
	}
	return user, password, err
}

func (p *place) addHost(host, port string) ([]string, error) {
	u, err := url.Parse("redis://" + host)
	if err != nil || u.Hostname() == "" || u.Path != "" {
		return nil, errors.New("it has no host; write HOST:PORT")
	}
	if u.Port() == "" {
		host += ":" + port
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || n == 0) {
		return nil, errors.New("its port is above 65535; write the port on which the server listens")
	}
	return append(p.hosts, host), nil
}

// readRest reads what stands behind the hosts.
func (p *place) readRest(path, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("its query cannot be read; write ?db=0, or none")
	}
	database := values.Get("db")
	values.Del("db")
	p.certName = values.Get("server_name")
	values.Del("server_name")
	if len(values) > 0 {
		return errors.New("its query may say db and server_name alone")
	}
	switch p.kind {
	case sentinel:
		if p.master = path; path == "" {
			return errors.New("it does not say which server the Sentinels watch; write /NAME behind the hosts")
		}
	case single:
		if path != "" {
			database = path
		}
	case cluster:
		if path != "" || database != "" && database != "0" {
			return errors.New("a Cluster has one database; write nothing behind the hosts")
		}
	}
	if database != "" {
		if p.database, err = strconv.Atoi(database); err != nil || p.database < 0 {
			return errors.New("its database is no number; write /0, or none")
		}
	}
	return nil
}

func parseSocket(rest string) (p place, err error) {
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		if p.user, p.password, err = readUser(rest[:at]); err != nil {
			return p, err
		}
		rest = rest[at+1:]
	}
	path, query, _ := strings.Cut(rest, "?")
	if path == "" {
		return p, errors.New("it has no path; write unix:///run/redis.sock")
	}
	p.kind, p.network, p.hosts = single, "unix", []string{path}
	return p, p.readRest("", query)
}

// connect returns a client. It asks nobody yet.
func (s Server) connect(timeout time.Duration) (redis.UniversalClient, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	p, err := s.parse()
	if err != nil {
		return nil, err
	}
	secured, err := s.secured(p)
	if err != nil {
		return nil, err
	}
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch p.kind {
	case sentinel:
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: p.master, SentinelAddrs: p.hosts, SentinelPassword: s.SentinelPassword,
			Username: p.user, Password: p.password, DB: p.database, TLSConfig: secured,
			ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1, DialTimeout: timeout,
			ReadTimeout: timeout, WriteTimeout: timeout, PoolSize: connections, PoolTimeout: timeout / 2,
			DisableIdentity: true,
		}), nil
	case cluster:
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: p.hosts, Username: p.user, Password: p.password, TLSConfig: secured,
			ContextTimeoutEnabled: true, MaxRetries: -1, MinRetryBackoff: -1, MaxRetryBackoff: -1,
			DialerRetries: 1, DialTimeout: timeout,
			ReadTimeout: timeout, WriteTimeout: timeout, PoolSize: connections, PoolTimeout: timeout / 2,
			DisableIdentity: true, MaintNotificationsConfig: quiet,
		}), nil
	}
	return redis.NewClient(&redis.Options{
		Network: p.network, Addr: p.hosts[0], TLSConfig: secured,
		Username: p.user, Password: p.password, DB: p.database,
		ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1, DialTimeout: timeout,
		ReadTimeout: timeout, WriteTimeout: timeout, PoolSize: connections, PoolTimeout: timeout / 2,
		DisableIdentity: true, MaintNotificationsConfig: quiet,
	}), nil
}

// secured is how the server is trusted; nil without TLS.
func (s Server) secured(p place) (*tls.Config, error) {
	if !p.tls {
		return nil, nil //nolint:nilnil // none is none
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: p.certName}
	if c.ServerName == "" && p.kind == single {
		u, err := url.Parse("redis://" + p.hosts[0])
		if err != nil {
			return nil, errors.New("it has no host; write HOST:PORT")
		}
		c.ServerName = u.Hostname()
	}
	if s.CA != "" {
		pem, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fmt.Errorf("its ca cannot be read: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("its ca %s has no certificate in PEM", s.CA)
		}
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("its cert and key cannot be used: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
