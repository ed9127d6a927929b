package command

import (
	"io"
	"sync"

	"epitome/command/shelves"
	"epitome/console/recall"
	"epitome/daemon"
	"epitome/instance"
)

type mcpCmd struct{}

// Run serves until its input ends.
func (mcpCmd) Run(c *cli) error {
	ctx, stop := untilSignal()
	defer stop()
	return recall.ServeStdio(ctx, instance.Version(), &kept{c: c})
}

// kept are the artifacts of this user's epitomes.
type kept struct {
	c  *cli
	mu sync.Mutex // held while one is opened: of a folder that nobody serves, one has the store
}

// Open reads the configuration each time: an epitome may have been started meanwhile.
func (k *kept) Open(name string) (io.ReadCloser, int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	conf, err := k.c.load()
	if err != nil {
		return nil, 0, err
	}
	home, err := conf.DataFolder()
	if err != nil {
		return nil, 0, err
	}
	return shelves.Open(conf, home, name)
}

// Lines reads which lines are wanted.
func (*kept) Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error) {
	return daemon.Artifacts{}.Lines(lines, grep)
}
