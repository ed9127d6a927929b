package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"epitome/console"
	"epitome/console/logs"
	"epitome/console/metrics"
	"epitome/event"
	"epitome/proxy"
	"epitome/rewrite/chat"
)

type serveCmd struct {
	Leased bool              `hidden:"" help:"End when the last user of /-/lease has left."`
	Base   map[string]string `hidden:"" placeholder:"NAME=URL" help:"Further upstreams."`
}

// Run serves until a signal, or until the last lease ends.
func (s serveCmd) Run(c *cli) error {
	d := &daemon{log: newLog(os.Stderr), load: func() (Config, error) { return s.config(c) }, signals: make(chan os.Signal, 4)}
	signal.Notify(d.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // before anyone can know that there is something to signal
	defer signal.Stop(d.signals)
	if err := d.start(s.Leased); err != nil {
		return err
	}
	return d.serve()
}

func (s serveCmd) config(c *cli) (Config, error) {
	conf, err := Load(defaultConfig, c.Config, c.overrides())
	if err != nil {
		return Config{}, err
	}
	for name, url := range s.Base {
		conf.AddUpstream(name, url, "--base")
	}
	return conf, conf.validate()
}

// daemon is the running proxy with all that belongs to it.
type daemon struct {
	log     *slog.Logger
	load    func() (Config, error)
	started Config // what only a restart takes up is as it was here
	config  atomic.Pointer[Config]
	ln      net.Listener
	proxy   *proxy.Proxy
	console *console.Console
	badge   *badge
	keeping *keeping
	leases  leases
	signals chan os.Signal
}

// start takes the port and the data folder, so that everything that can fail has failed before the first request.
func (d *daemon) start(leased bool) error {
	conf, err := d.load()
	if err != nil {
		return err
	}
	d.started = conf
	boundMemory(conf)
	d.config.Store(&conf)
	folder, err := conf.admit()
	if err != nil {
		return err
	}
	if d.ln, err = listen(conf.Listen); err != nil {
		return conf.locate(err)
	}
	if err = d.open(conf, folder, leased); err != nil {
		d.giveBack()
	}
	return conf.locate(err)
}

// open takes the data folder and puts the parts together. What it has taken is given back by giveBack, whether it failed or not.
func (d *daemon) open(conf Config, folder string, leased bool) (err error) {
	address := d.ln.Addr().String()
	if err := noLoop(conf, address); err != nil {
		return err
	}
	if d.badge, err = pinBadge(folder, address); err != nil {
		return err
	}
	if d.keeping, err = openKeeping(conf, folder, address, d.log); err != nil {
		return err
	}
	d.leases.start(leased)
	counts := metrics.New(func() int { return d.proxy.InFlight() })
	d.console = console.New(conf.Console, console.Program{
		Version: version(), Listen: address, Log: d.log, Upstreams: d.upstreams, Metrics: counts,
		Totals:    func() any { return counts.Totals() },
		Artifacts: artifacts{d.keeping.shelf}, Compact: d.compact, Ready: func() bool { return !d.proxy.Stopping() },
		Proof: d.badge.proof, Owner: d.badge.admits, Lease: d.leases.take, Running: d.running,
	})
	events := event.Sinks{counts, logs.New(d.log)}
	d.keeping.relay.connect(events)
	plugs := proxy.Plugs{
		Own: d.console, Record: events.RecordExchange, Log: d.log, Dialects: []proxy.Dialect{chat.Wire{}},
	}
	d.proxy, err = proxy.New(conf.settings(), d.keeping.plug(plugs))
	d.keeping.through(d.proxy)
	return err
}

// giveBack ends what open has begun, and the listening.
func (d *daemon) giveBack() {
	if d.keeping != nil {
		d.keeping.close()
	}
	if d.badge != nil {
		d.badge.unpin()
	}
	_ = d.ln.Close() // closed already if the proxy has served
}

// spareMemory is what the program may take besides the bodies under way, in bytes, before it collects garbage more often.
const spareMemory = 256 << 20

// boundMemory keeps garbage, which is mostly bodies that were sent, from growing far beyond what is allowed for those under way and
// for those that wait to be summarised.
func boundMemory(conf Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(conf.Proxy.MaxInFlight+conf.Summarize.Pending) + spareMemory)
	}
}

func (d *daemon) upstreams() map[string]string {
	urls := make(map[string]string)
	for name, u := range d.config.Load().Upstreams {
		urls[name] = u.URL
	}
	return urls
}

// running says how this program runs. Commands compare it with how they would have it.
func (d *daemon) running() map[string]string {
	conf := *d.config.Load()
	return map[string]string{
		"mode": conf.Mode, "settings": d.badge.mark(settingsOf(conf)), "build": d.badge.mark(buildOf(os.Getenv)),
	}
}

// serve runs until it is told to stop, and then ends what is under way with grace.
func (d *daemon) serve() error {
	defer d.giveBack()
	conf := d.config.Load()
	d.log.Info("listening", "address", "http://"+d.ln.Addr().String(), "upstream", conf.Upstreams[conf.Upstream].URL, "mode", conf.Mode,
		"artifacts", cmp.Or(d.keeping.where, "in memory"))
	if !console.Loopback(d.ln.Addr().String()) {
		d.log.Warn("listening beyond this machine: whoever reaches this address can use the upstreams", "address", d.ln.Addr().String())
	}
	failed := make(chan error, 1)
	go func() { failed <- d.proxy.Serve(d.ln) }()
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("cannot accept connections on %s: %w", d.ln.Addr(), err)
		case <-d.leases.ended:
			d.stop("the last user has left")
			return nil
		case s := <-d.signals:
			if s == syscall.SIGHUP {
				d.reload()
				continue
			}
			d.stop(s.String())
			return nil
		}
	}
}

// sameSignal is how soon after a signal another one is taken for the same: some send it to a process and to its group.
const sameSignal = 300 * time.Millisecond

// stop gives streams their grace time; a second signal ends it.
func (d *daemon) stop(why string) {
	d.log.Info("stopping", "why", why, "in_flight", d.proxy.InFlight(), "grace", d.config.Load().Proxy.ShutdownGrace.String())
	begun := time.Now()
	done := make(chan struct{})
	go func() {
		d.proxy.Shutdown()
		close(done)
	}()
	for {
		select {
		case <-done:
			d.log.Info("stopped")
			return
		case s := <-d.signals:
			if s != syscall.SIGHUP && time.Since(begun) > sameSignal {
				d.log.Warn("stopping at once", "why", "a second "+s.String())
				d.proxy.Cut()
			}
		}
	}
}

// reload reads the configuration again. One with a mistake changes nothing.
func (d *daemon) reload() {
	next, err := d.load()
	if err == nil {
		err = next.locate(noLoop(next, d.ln.Addr().String()))
	}
	if err == nil {
		err = next.locate(d.proxy.Reload(next.settings()))
	}
	if err != nil {
		d.log.Error("the configuration is not sound; the old one stays in force", "error", err.Error())
		return
	}
	d.config.Store(&next)
	d.console.Reload(next.Console)
	d.keeping.configure(next)
	if keys := needRestart(d.started, next); len(keys) > 0 {
		d.log.Warn("reloaded; some changes wait for a restart", "keys", keys)
		return
	}
	d.log.Info("reloaded")
}

// leases counts the users of a program that lives for them.
type leases struct {
	ended chan struct{} // closed when the last user has left; never, for a program that lives on its own

	mu      sync.Mutex
	holders int
	last    *time.Timer // ends the program; nil when it lives on its own
}

const (
	firstLease = 30 * time.Second // for the first user to come
	nextLease  = 2 * time.Second  // for another one after the last has left
)

func (l *leases) start(leased bool) {
	l.ended = make(chan struct{})
	if leased {
		l.last = time.AfterFunc(firstLease, l.end)
	}
}

func (l *leases) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holders > 0 {
		return
	}
	select {
	case <-l.ended:
	default:
		close(l.ended)
	}
}

// take counts one user in, unless the end has come; release counts it out.
func (l *leases) take() (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
		return nil, false
	default:
	}
	l.holders++
	return l.release, true
}

func (l *leases) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holders--; l.holders == 0 && l.last != nil {
		l.last.Reset(nextLease)
	}
}
