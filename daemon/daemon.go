// Package daemon is the wiring of what runs: store and shelf, shapers over them, the proxy, the pages under /-/. It
// handles signals, and reads the configuration again.
//
// It promises that all that can fail at a start has failed before the first request is taken, that a store that
// cannot be used costs no more than memory, that a configuration with a mistake leaves the old one in force, and that
// an end gives streams their grace, ends what is asked, and closes the stores last. It knows no flags, and prints
// nothing but its log.
package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"epitome/config"
	"epitome/console"
	"epitome/dialect/chat"
	"epitome/event"
	"epitome/event/journal"
	"epitome/inject"
	"epitome/offload"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/service"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// Daemon is the running proxy with all that belongs to it.
type Daemon struct {
	log     *slog.Logger
	load    func() (config.Config, error)
	signals <-chan os.Signal
	started config.Config // what only a restart takes up is as it was here
	config  atomic.Pointer[config.Config]
	ends    []func() // they end what was begun, the last first

	configuring sync.Mutex // held while the configuration changes

	reloadFailed atomic.Bool // the last one

	ln         net.Listener
	card       *Card
	upstreams  *proxy.Upstreams
	metrics    *console.Metrics
	observers  []func(journal.Entry) // get each event
	shelf      *offload.Shelf
	store      store.Store // of facts
	passing    bool        // facts do not outlive the process
	ratios     *tokenize.Ratios
	windows    *window.Windows
	biller     *event.Biller
	memory     *inject.Memory // what sessions have taught
	book       *journal.Book
	summarizer *summarize.Summarizer
	service    *service.Service
	observer   *rewrite.Shaper // has the decisions of live requests, and keeps its own in memory alone
	places     *rewrite.Places // for requests that are shaped
	proxy      *proxy.Proxy
	console    *console.Console
}

// Start takes the port and the data folder, so that everything that can fail has failed before the first request. The
// configuration comes from load, and again with each SIGHUP that comes over signals. Any other signal ends Serve, which
// the caller calls next.
func Start(log *slog.Logger, signals <-chan os.Signal, load func() (config.Config, error)) (*Daemon, error) {
	d := &Daemon{log: log, load: load, signals: signals}
	if err := d.start(); err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

// Address is where it listens, as host:port.
func (d *Daemon) Address() string { return d.ln.Addr().String() }

// atEnd adds a function that ends what was begun. Those added later run before it, as they use it.
func (d *Daemon) atEnd(end func()) { d.ends = append(d.ends, end) }

func (d *Daemon) end() {
	for _, end := range slices.Backward(d.ends) {
		end()
	}
}

// start makes all parts, each from those above it.
func (d *Daemon) start() error {
	conf, err := d.load()
	if err != nil {
		return err
	}
	d.started = conf
	d.config.Store(&conf)
	boundMemory(conf)
	if err := d.listen(conf); err != nil {
		return err
	}
	d.observe(conf)
	if err := d.openStores(conf); err != nil {
		return err
	}
	d.upstreams, err = proxy.NewUpstreams(conf.ForProxy())
	if err != nil {
		return err
	}
	d.biller = event.NewBiller(Prices(conf))
	d.book = d.openBook(conf)
	d.atEnd(d.book.Close)
	d.memory = inject.NewMemory(d.store, conf.Memory, conf.Store.Keep.D(), time.Now)
	d.windows = window.New(conf.Window, d.store, time.Now)
	d.windows.Configure(conf.Window, probedOf(conf))
	d.summarizer = d.newSummarizer(conf)
	d.atEnd(d.summarizer.Close)
	d.atEnd(d.windows.Close)
	d.ratios = tokenize.NewRatios(d.store)
	d.service = d.newService(conf)
	d.places = rewrite.NewPlaces(runtime.GOMAXPROCS(0), shapeBudget)
	d.proxy = d.newProxy()
	d.service.Proxy = d.proxy
	d.console = console.New(console.Program{
		Version: service.Version(), Listen: d.Address(), Token: d.card.Token, Log: d.log, Metrics: d.metrics,
		Book: d.book, Memory: d.memory, Service: d.service, Settings: func() console.Settings {
			now := d.config.Load()
			return console.Settings{Config: now.Console, Mode: now.Mode, List: now.List}
		},
	})
	d.addGauges()
	d.measureNothing()
	return nil
}

// listen takes the port and the data folder.
func (d *Daemon) listen(conf config.Config) error {
	if err := conf.Admit(); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", conf.Listen)
	if err != nil {
		hint := "stop what listens there, or give another address with --listen"
		running, _ := Read(conf.Data)
		if running != nil && running.Listen == config.Reachable(conf.Listen) {
			hint = "an epitome already runs there; 'epitome open' shows it"
		}
		return fmt.Errorf("cannot listen on %s: %w; %s", conf.Listen, err, hint)
	}
	d.atEnd(func() { _ = ln.Close() }) // closed already if the proxy has served
	d.ln, err = conf.TLS.Listen(ln, d.log)
	if err != nil {
		return err
	}
	if err := conf.CheckAt(d.Address()); err != nil {
		return err
	}
	d.card, err = Pin(conf.Data, d.Address(), conf.TLS.IsSet())
	if err != nil {
		return err
	}
	d.atEnd(d.card.Unpin)
	if conf.Hosted && !d.card.lock.Locked() {
		return errors.New("another epitome runs with the data folder, or its file system has no locks")
	}
	running, _ := Read(conf.Data)
	if running != nil && running.Token != d.card.Token && conf.Store.URL == "" {
		return fmt.Errorf("cannot use the data folder %s: the epitome on %s runs with it; 'epitome open' shows that one, and "+
			"--data gives another folder", conf.Data, running.Listen)
	}
	return nil
}

// observe makes those who get each event: metrics, log, and traces if they are wanted.
func (d *Daemon) observe(conf config.Config) {
	d.metrics = console.NewMetrics(service.Version())
	d.observers = []func(journal.Entry){d.metrics.Record, console.NewLog(d.log).Record, d.charge}
	if conf.Otel.Endpoint != "" {
		traces := console.NewTraces(conf.Otel.Endpoint, service.Version(), d.log)
		d.atEnd(traces.Close)
		d.observers = append(d.observers, traces.Record)
	}
}

// openBook opens the book of events. If another epitome may hold the data folder, its files are left alone.
func (d *Daemon) openBook(conf config.Config) *journal.Book {
	folder := filepath.Join(d.card.folder, EventFolder)
	if d.passing {
		folder = ""
	}
	return journal.Open(journal.Config{
		Folder: folder, Keep: conf.Store.Keep.D(), Quota: eventQuota, Log: d.log, Biller: d.biller,
		Observers: d.observers, Now: time.Now,
	})
}

func (d *Daemon) newSummarizer(conf config.Config) *summarize.Summarizer {
	return summarize.New(conf.Summarize, summarize.Deps{
		Store: d.store, Keep: conf.Store.Keep.D(), Send: d.upstreams.Send,
		Dialect:  chat.Dialect{},
		Overflow: window.TooLong, Count: tokenize.CountString,
		Usable: func(upstream, model string) int {
			usable := window.Usable(d.windows.Of(upstream, model).Tokens, 0)
			return int(float64(usable) / tokenize.ModelOf(model).Ratio)
		},
		Prepares: func(upstream string) bool { return d.config.Load().Prepares(upstream) },
		Memory:   d.memory, Tell: d.book.RecordSummary, Log: d.log,
	})
}

// newService makes the shapers, and the service over them. The shaper of live requests also asks servers how much their
// models hold.
func (d *Daemon) newService(conf config.Config) *service.Service {
	deps := Deps(d.store, d.shelf, d.windows, conf.Store.Keep.D())
	deps.Passing = d.passing
	deps.Address = conf.Offload.Address
	deps.Recent = max(int(conf.MaxRecent), 1)
	deps.Ratio = d.ratios.Of
	deps.CachedPrice = d.biller.CachedPrice
	deps.Summarizer = d.summarizer
	deps.Inject = &inject.Injector{Files: inject.FilesIn(conf.Data), Shelf: d.shelf, Memory: d.memory}

	asking := deps
	asking.Window = func(upstream, model string, maxOutput int) (tokens, usable int) {
		d.windows.Probe(upstream, model, d.upstreams.Get, d.log)
		return deps.Window(upstream, model, maxOutput)
	}
	live := rewrite.NewShaper(asking)

	alone := asking // without a model to ask and without additions
	alone.Summarizer, alone.Inject = nil, nil

	observing := service.Overlay(deps)
	observing.Shelf = unwritten{d.shelf}
	d.observer = live.Beside(observing)
	return &service.Service{
		Log: d.log, Config: d.config.Load, Store: d.store, Shelf: d.shelf, Book: d.book, Windows: d.windows,
		Deps: deps, Live: live, Gateway: live.Beside(alone), Observed: observing.Ledger,
		Requests: filepath.Join(conf.Data, RequestFolder), Quota: conf.Store.Requests,
	}
}

// shapeBudget is how long a request may wait for places, store and shelf. Clients wait longer for an answer.
const shapeBudget = time.Minute

func (d *Daemon) newProxy() *proxy.Proxy {
	return proxy.New(d.upstreams, proxy.Deps{
		Record: d.record, Log: d.log,
		Shape: d.service.Live.Shape, Observe: d.observer.Shape, Places: d.places,
		Windows: d.windows, Ratios: d.ratios,
		Keeps: d.service.Deps.Inject.Files.Knows,
		Run:   d.run,
		// The key of the hash is the shelf's secret.
		Scope: func(kind, value string) string { return d.shelf.Name("scope "+kind, []byte(value)) },
	})
}

// record keeps an exchange that has ended, and lets the next request know how long the provider keeps this one.
func (d *Daemon) record(e *event.Exchange) {
	u := &e.Usage
	if e.Conversation != "" && (u.Life > 0 || u.Write5m+u.Write1h > 0) {
		d.service.Live.Answered(e.Conversation, u.Life)
	}
	d.book.RecordExchange(e)
}

// State returns how it runs.
func (d *Daemon) State() service.State { return d.service.State() }

const (
	// restsAfter is how long a conversation has no new request before its newest one is kept, so that an agent's fast
	// turns are not all compressed.
	restsAfter = 10 * time.Second
	// forgottenAfter is likewise until its newest request leaves the memory.
	forgottenAfter = 30 * time.Second
)

// Serve runs until it is told to stop, and then ends what is under way with grace.
func (d *Daemon) Serve() error {
	defer d.end()
	defer func() { d.service.KeepRequests(time.Now()) }()
	d.announce()
	failed := make(chan error, 1)
	go func() { failed <- d.proxy.Serve(d.ln, d.console) }()
	go tokenize.Load() // neither the start nor a request waits for these
	go event.BuiltinPrices()
	d.service.KeptRequests() // those of earlier processes that have expired are deleted
	look, hourly := time.Tick(2*time.Second), time.Tick(time.Hour)
	clients := d.config.Load().ClientsVersion()
	freed := 0 // bytes of requests that may be garbage
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("cannot accept connections on %s: %w", d.ln.Addr(), err)
		case now := <-look:
			d.service.KeepRequests(now.Add(-restsAfter))
			freed = collect(freed + d.service.Live.Forget(now.Add(-forgottenAfter)))
			paceGarbage()
			if now := d.config.Load().ClientsVersion(); now != clients {
				clients = now
				d.reload()
			}
		case <-hourly:
			d.service.KeptRequests()
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

// charge counts what an exchange or a summary has cost to its client.
func (d *Daemon) charge(n journal.Entry) {
	if s := n.Summary; s != nil {
		d.measure(s.Client, s.Cost.InputTokens+s.Cost.OutputTokens, s.Own.Nano)
	}
	if e := n.Exchange; e != nil {
		d.measure(e.Client, e.Usage.Input+e.Usage.Output, e.Bill.Billed)
	}
}

// measure counts what a client has used in the metrics, if these are to name clients.
func (d *Daemon) measure(client string, tokens int, nano int64) {
	if client != "" && d.config.Load().Metrics.Clients {
		d.metrics.Charge(client, tokens, nano)
	}
}

// measureNothing begins the counts of all clients at zero: Prometheus sees no increase in the first value of a series.
func (d *Daemon) measureNothing() {
	for client := range d.config.Load().Clients {
		d.measure(client, 0, 0)
	}
}

// announce logs where it listens, and what is unsafe about that.
func (d *Daemon) announce() {
	conf := d.config.Load()
	base := conf.URLAt(config.Reachable(d.Address()))
	ofAnthropic := base + "/u/anthropic"
	if conf.Named {
		ofAnthropic = base
	}
	d.log.Info("listening", "address", conf.URLAt(d.Address()), "upstream", conf.Upstreams[conf.Upstream].URL,
		"mode", conf.Mode, "OPENAI_BASE_URL", base+"/v1", "ANTHROPIC_BASE_URL", ofAnthropic,
		"artifacts", cmp.Or(conf.Offload.Bucket, ArtifactsIn(*conf, d.card.folder)), "pages", console.Self+" open")
	if console.Loopback(d.Address()) {
		return
	}
	if len(conf.Clients) == 0 {
		d.log.Warn("listening beyond this machine: whoever reaches this address can use the upstreams")
	} else if !conf.TLS.IsSet() {
		d.log.Warn("listening beyond this machine without TLS: whoever listens in can read keys and conversations")
	}
}

// stop gives streams their grace time; a second signal ends it.
func (d *Daemon) stop(why string) {
	grace := d.config.Load().ShutdownGrace.String()
	d.log.Info("stopping", "why", why, "in_flight", d.proxy.InFlight(), "grace", grace)
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
	d.configuring.Lock()
	defer d.configuring.Unlock()
	next, err := d.load()
	if err == nil {
		err = d.configure(next)
	}
	d.reloadFailed.Store(err != nil)
	if err != nil {
		d.log.Error("the configuration is not sound; the old one stays in force", "error", err.Error())
		return
	}
	if keys := config.NeedRestart(d.started, next); len(keys) > 0 {
		d.log.Warn("reloaded; some changes wait for a restart", "keys", keys)
		return
	}
	d.log.Info("reloaded")
}

// configure puts a configuration in force. After an error the old one stays.
func (d *Daemon) configure(next config.Config) error {
	if err := next.CheckAt(d.Address()); err != nil {
		return err
	}
	if err := d.proxy.Reload(next.ForProxy()); err != nil {
		return err
	}
	d.config.Store(&next)
	d.measureNothing()
	d.windows.Configure(next.Window, probedOf(next))
	d.biller.Configure(Prices(next))
	d.memory.Configure(next.Memory)
	d.summarizer.Configure(next.Summarize)
	return nil
}
