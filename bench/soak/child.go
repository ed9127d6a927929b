package soak

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"epitome/bench/lineup"
)

// child is the epitome that is watched. It is a process of its own, on loopback, with a folder of its own.
type child struct {
	program  string
	folder   string
	upstream string
	addr     string
	store    string // that it shares with others; empty: it has its own
	common   string // the folder of what they have taken out

	mu      sync.Mutex // guards what follows
	lane    *lineup.Lane
	variant int    // of the configuration
	quota   string // of artifacts
	starts  int    // and ends, that have begun
	settled int    // likewise, that are over
	kills   int    // of these ends, those with no word
}

func (c *child) url() string  { return "http://" + c.addr }
func (c *child) data() string { return filepath.Join(c.folder, "data") }
func (c *child) log() string  { return filepath.Join(c.folder, "log") }

// shelf is where the artifacts lie.
func (c *child) shelf() string {
	if c.common != "" {
		return filepath.Join(c.common, "artifacts")
	}
	return filepath.Join(c.data(), "artifacts")
}

// configurations differ in what may change while epitome runs.
var configurations = [...]string{
	"[rewrite]\npreset = \"balanced\"\n[summarize]\nmode = \"intent\"\n",
	"[rewrite]\npreset = \"economy\"\ncompact_at = 0.8\nclear_at = 0.7\n[summarize]\nmode = \"hybrid\"\n",
	"[rewrite]\npreset = \"cautious\"\nrent = 1.5\n[summarize]\nmode = \"llm\"\nprepare = \"on\"\n",
}

const (
	wideQuota = "2GB"            // of artifacts, more than any run needs
	leaves    = 30 * time.Second // epitome may take so long to leave after SIGTERM, on a machine with other work too
)

// write writes the configuration. The lock is held.
func (c *child) write() error {
	folder, store, clients := "", "", ""
	if c.store != "" { // a machine with other work does not answer at once
		folder, store = fmt.Sprintf("folder = %q\naddress = \"tool\"\n", c.common), fmt.Sprintf("url = %q\ntimeout = \"500ms\"\n", c.store)
		clients = tables()
	}
	text := fmt.Sprintf("listen = %q\nupstream = %q\ndata = %q\n[proxy]\nshutdown_grace = \"1s\"\n"+
		"[window]\ndefault = 12000\nmodels = { \"*\" = 12000 }\nprobe = false\n"+
		"[offload]\nquota = %q\n%s[store]\nkeep = \"2m\"\n%s[events]\nquota = \"1MB\"\n[log]\nfile = %q\nquota = \"2MB\"\n",
		c.addr, c.upstream, c.data(), c.quota, folder, store, c.log())
	text += configurations[c.variant%len(configurations)] + clients
	return os.WriteFile(c.config(), []byte(text), 0o600)
}

func (c *child) config() string { return filepath.Join(c.folder, "soak.toml") }

// start starts it, and waits until it is ready. Another program may have its port for a moment.
func (c *child) start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.write(); err != nil {
		return fmt.Errorf("cannot write a configuration: %w", err)
	}
	how := lineup.Contender{Name: "epitome", Ready: "/-/ready", Fixed: c.addr, Leave: leaves,
		Command: []string{c.program, "serve", "--config", c.config()}}
	var err error
	for range lineup.MostPorts {
		var lane *lineup.Lane
		if lane, err = lineup.Launch(ctx, how, c.upstream); err == nil {
			c.lane = lane
		}
		if err == nil || !lineup.PortTaken(err) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// steady returns how often epitome was started or ended so far, and whether neither is under way.
func (c *child) steady() (times int, steady bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starts, c.starts == c.settled
}

// countKills returns how often epitome was ended with no word, so far.
func (c *child) countKills() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kills
}

// again ends epitome and starts it again; kill ends it with no word.
func (c *child) again(ctx context.Context, kill bool) error {
	c.mu.Lock()
	c.starts++
	lane := c.lane
	if kill {
		c.kills++
	}
	c.mu.Unlock()
	if kill {
		if p, err := os.FindProcess(lane.PID()); err == nil {
			_ = p.Kill() // Stop says whether it is gone
		}
	}
	if lane.Stop() {
		return fmt.Errorf("epitome has not left within %s of SIGTERM", leaves)
	}
	err := c.start(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled++
	return err
}

// reload changes the configuration and has it read.
func (c *child) reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.variant++
	if err := c.write(); err != nil {
		return fmt.Errorf("cannot write a configuration: %w", err)
	}
	p, err := os.FindProcess(c.lane.PID())
	if err != nil {
		return err
	}
	return p.Signal(syscall.SIGHUP)
}

// limit sets the quota of artifacts, for the next start.
func (c *child) limit(quota string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quota = quota
}

func (c *child) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lane.PID()
}

// hasEnded tells whether the process has ended by itself, and what it wrote last.
func (c *child) hasEnded() (words string, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lane.HasEnded()
}

func (c *child) stop() {
	if c.lane != nil {
		c.lane.Stop()
	}
}
