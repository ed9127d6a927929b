// Package daemon is the wiring of what runs: store and shelf, shapers over them, the proxy, the pages under /-/, and
// what becomes of signals and of a configuration that is read again.
//
// It promises that all that can fail at a start has failed before the first request is taken, that a store that
// cannot be used costs no more than memory, that a configuration with a mistake leaves the old one in force, and that
// an end gives streams their grace, ends what is asked, and closes the store last. It knows no flags, and prints
// nothing but its log.
package daemon

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"epitome/config"
	"epitome/console"
	"epitome/console/pages"
	"epitome/console/story"
	"epitome/proxy"
)

// Daemon is the running proxy with all that belongs to it.
type Daemon struct {
	log     *slog.Logger
	load    func() (config.Config, error)
	started config.Config // what only a restart takes up is as it was here
	config  atomic.Pointer[config.Config]
	ln      net.Listener
	proxy   *proxy.Proxy
	console *console.Console
	book    *story.Book
	traces  *console.Traces // nil if no spans are made
	card    *Card
	shapers *shapers
	signals <-chan os.Signal
}

// New makes one that takes its configuration from load when it starts, and again with each SIGHUP that comes over
// signals. Any other signal ends it.
func New(log *slog.Logger, signals <-chan os.Signal, load func() (config.Config, error)) *Daemon {
	return &Daemon{log: log, load: load, signals: signals}
}

// Address is where it listens, as host:port, once it has started.
func (d *Daemon) Address() string { return d.ln.Addr().String() }

// Totals returns what it has done since it started.
func (d *Daemon) Totals() story.Sums { return d.book.Totals() }

// Start takes the port and the data folder, so that everything that can fail has failed before the first request.
func (d *Daemon) Start() error {
	conf, err := d.load()
	if err != nil {
		return err
	}
	d.started = conf
	boundMemory(conf)
	d.config.Store(&conf)
	folder, err := conf.Admit()
	if err != nil {
		return err
	}
	if d.ln, err = conf.Take(d.log); err != nil {
		return err
	}
	if err = d.open(conf, folder); err != nil {
		d.giveBack()
	}
	return err
}

// open takes the data folder and puts the parts together. What it has taken is given back by giveBack, whether it
// failed or not.
func (d *Daemon) open(conf config.Config, folder string) (err error) {
	address := d.Address()
	if err := conf.CheckAt(address); err != nil {
		return err
	}
	if d.card, err = Pin(folder, address, conf.TLS.IsSet()); err != nil {
		return err
	}
	kept, err := openStorage(conf, folder, address, d.log)
	if err != nil {
		return err
	}
	upstreams, err := proxy.NewUpstreams(conf.Settings())
	if err != nil {
		kept.close()
		return err
	}
	counts := console.NewMetrics(Version())
	if d.book, err = d.openBook(conf, folder, kept, counts); err != nil {
		kept.close()
		return err
	}
	d.shapers = newShapers(conf, kept, upstreams, d.book)
	shown := pages.New(pages.Config{
		Source: d.book, Edits: d.shapers.edits, Artifacts: kept.shelf.Get, Memory: d.shapers.memory,
		Settings: func() []config.Value { return d.config.Load().List() },
		Version:  Version(), Address: address, Mode: func() string { return d.config.Load().Mode },
	})
	d.console = console.New(conf.Console, console.Program{
		Version: Version(), Listen: address, Log: d.log,
		Metrics: counts,
		Book:    d.book, Edits: d.shapers.edits, Artifacts: kept.shelf.Get, Memory: d.shapers.memory, Compact: d.compact,
		Pages: shown.Documents(), Asset: shown.Asset,
		Ready: func() (map[string]string, bool) { return kept.parts(), !d.proxy.Stopping() },
		Owner: d.card.Admits, State: func() any { return d.State() },
	})
	d.proxy = proxy.New(upstreams, d.shapers.plug(proxy.Deps{
		Own: d.console, Record: d.book.RecordExchange, Log: d.log, Dialects: dialects(), Traces: d.traces != nil,
	}))
	d.addGauges(counts, kept)
	return nil
}

// giveBack ends what open has begun, and the listening.
func (d *Daemon) giveBack() {
	if d.shapers != nil {
		d.shapers.close()
		d.closeBook() // once no job records an event any more
	}
	if d.card != nil {
		d.card.Unpin()
	}
	_ = d.ln.Close() // closed already if the proxy has served
}

// Serve runs until it is told to stop, and then ends what is under way with grace.
func (d *Daemon) Serve() error {
	defer d.giveBack()
	ended := make(chan struct{})
	defer close(ended)
	go returnMemory(ended)
	conf := d.config.Load()
	d.log.Info("listening", "address", conf.URLAt(d.Address()), "upstream", conf.Upstreams[conf.Upstream].URL,
		"mode", conf.Mode, "artifacts", cmp.Or(d.shapers.storage.where, "in memory"), "pages", "epitome open")
	warnOf(*conf, d.Address(), d.log)
	failed := make(chan error, 1)
	go func() { failed <- d.proxy.Serve(d.ln) }()
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("cannot accept connections on %s: %w", d.ln.Addr(), err)
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

// warnOf says what is open to whoever reaches the address.
func warnOf(conf config.Config, address string, log *slog.Logger) {
	switch beyond := !console.Loopback(address); {
	case beyond && len(conf.Clients) == 0:
		log.Warn("listening beyond this machine: whoever reaches this address can use the upstreams", "address", address)
	case beyond && !conf.TLS.IsSet():
		log.Warn("listening beyond this machine without TLS: whoever listens in can read keys and conversations", "address", address)
	}
}

// stop gives streams their grace time; a second signal ends it.
func (d *Daemon) stop(why string) {
	d.log.Info("stopping", "why", why, "in_flight", d.proxy.InFlight(), "grace", d.config.Load().Proxy.ShutdownGrace.String())
	done := make(chan struct{})
	go func() {
		d.proxy.Shutdown()
		close(done)
	}()
	for {
		select {
		case <-done:
			d.book.Settle()
			d.log.Info("stopped")
			return
		case s := <-d.signals:
			if s != syscall.SIGHUP {
				d.log.Warn("stopping at once", "why", "a second "+s.String())
				d.proxy.Cut()
			}
		}
	}
}

// reload reads the configuration again. One with a mistake changes nothing.
func (d *Daemon) reload() {
	next, err := d.load()
	if err == nil {
		err = next.CheckAt(d.Address())
	}
	if err == nil {
		err = d.proxy.Reload(next.Settings())
	}
	if err != nil {
		d.log.Error("the configuration is not sound; the old one stays in force", "error", err.Error())
		return
	}
	d.config.Store(&next)
	d.console.Reload(next.Console)
	d.shapers.configure(next)
	if keys := config.NeedRestart(d.started, next); len(keys) > 0 {
		d.log.Warn("reloaded; some changes wait for a restart", "keys", keys)
		return
	}
	d.log.Info("reloaded")
}
