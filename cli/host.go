package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/daemon"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/service"
)

// hostCommand is the process of an epitome that commands start. It is for its user alone, on this machine.
func (a *app) hostCommand() *cobra.Command {
	return &cobra.Command{Use: "host", Hidden: true, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return serve(func() (config.Config, error) {
			conf, err := a.load()
			conf.Hosted, conf.Open = true, false
			conf.Clients, conf.TLS = nil, proxy.Certificate{}
			conf.ShutdownGrace = unit.Duration(time.Second) // the commands have ended
			return conf, err
		})
	}}
}

// host is the epitome of a data folder, for a command that uses it. One that a command has started ends with the last
// command that uses it, however that ends.
type host struct {
	*daemon.Card
	service.State // as the command found it
	folder        string
	users         *flock.Flock // see daemon.Users
	left          atomic.Bool
}

// join returns the epitome that runs with a data folder, or starts one that listens there. It is used until the end of
// the command.
func (a *app) join(folder string, conf config.Config, listen string) (*host, error) {
	h := &host{folder: folder, users: daemon.Users(folder)}
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		patience, cancel := context.WithTimeout(context.Background(), time.Minute) // an epitome that ends has it
		defer cancel()
		_, err = h.users.TryRLockContext(patience, 5*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use the data folder: %w; give another one with --data", err)
	}
	a.host = h
	h.Card, err = daemon.Read(folder)
	if err != nil {
		h.Card, err = h.start(conf.File(), listen)
	}
	if err == nil {
		h.State, err = h.Card.State()
	}
	return h, err
}

// logFile is the log of an epitome that commands have started, in its data folder.
const logFile = "epitome.log"

// start starts an epitome in a process of its own, with a configuration or with the user's own, and returns the one that
// runs with the data folder then: another command may have been faster.
func (h *host) start(file, listen string) (*daemon.Card, error) {
	const mostLog = 16 << 20 // bytes that it begins with
	log, err := os.OpenFile(filepath.Join(h.folder, logFile), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write a log: %w; give another data folder with --data", err)
	}
	defer log.Close()
	begun, err := log.Seek(0, io.SeekEnd)
	if begun > mostLog {
		begun, err = 0, log.Truncate(0)
	}
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find the program file: %w", err)
	}
	child := &exec.Cmd{Path: self, Args: []string{os.Args[0], "host", "--data", h.folder, "--listen", listen},
		Stdout: log, Stderr: log, SysProcAttr: detached()}
	if file != "" {
		child.Args = append(child.Args, "--config", file)
	}
	if err := child.Start(); err != nil {
		return nil, fmt.Errorf("cannot start epitome: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = child.Wait() // the log says why
		close(ended)
	}()
	patience := time.After(time.Minute)
	for {
		card, err := daemon.Read(h.folder)
		if err == nil {
			_, err = card.State()
		}
		if err == nil {
			if card.PID != child.Process.Pid { // ours must not come into its place, at another address
				_ = child.Process.Kill()
			}
			return card, nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ended:
			ended, patience = nil, time.After(time.Second/2) // another one that was faster may not be ready
		case <-patience:
			_, _ = log.Seek(begun, io.SeekStart)
			text, _ := io.ReadAll(log)
			_, why, _ := strings.Cut(string(text), "epitome: ")
			why = cmp.Or(strings.TrimSpace(why), "epitome does not start; its log is "+log.Name())
			return nil, errors.New(why)
		}
	}
}

// keep starts another epitome at the same address whenever the one that runs has been killed, until leave.
func (h *host) keep() {
	for {
		daemon.Await(h.folder)
		if h.left.Load() {
			return
		}
		if _, err := h.start(h.File, h.Listen); err != nil {
			time.Sleep(time.Second) // its address may be free then
		}
	}
}

// leave ends the use. If nobody else uses an epitome that commands have started, it waits until that has ended.
func (h *host) leave() {
	h.left.Store(true)
	_ = h.users.Close()
	for n := 0; h.Hosted && n < 500; n++ {
		_, ended := daemon.Read(h.folder)
		if ended != nil || h.isUsed() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// isUsed reports whether commands use the epitome: they share the lock, which an epitome that ends has for itself.
func (h *host) isUsed() bool {
	alone, _ := h.users.TryLock()
	_ = h.users.Close()
	shared, _ := h.users.TryRLock()
	_ = h.users.Close()
	return shared && !alone
}
