package recall

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patient is a transport whose end is heard when all calls that came before it are answered. The SDK ends at once, and
// who writes calls into a pipe and closes it would get no answer.
type patient struct{ mcp.Transport }

// Connect does what mcp.Transport says.
func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConnection{Connection: c, due: map[jsonrpc.ID]bool{}, settled: make(chan struct{}, 1)}, nil
}

type patientConnection struct {
	mcp.Connection
	settled chan struct{} // has an entry after an answer

	mu  sync.Mutex
	due map[jsonrpc.ID]bool // calls without an answer
}

// Read does what mcp.Connection says.
func (c *patientConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.wait(ctx)
		return m, err
	}
	if call, ok := m.(*jsonrpc.Request); ok && call.ID.IsValid() {
		c.mu.Lock()
		c.due[call.ID] = true
		c.mu.Unlock()
	}
	return m, nil
}

// Write does what mcp.Connection says. What cannot be written is due no longer.
func (c *patientConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if answer, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.due, answer.ID)
		c.mu.Unlock()
		select {
		case c.settled <- struct{}{}:
		default: // one is not yet looked at
		}
	}
	return err
}

// wait waits until nothing is due. An answer takes at most longest.
func (c *patientConnection) wait(ctx context.Context) {
	end := time.NewTimer(2 * longest)
	defer end.Stop()
	for {
		c.mu.Lock()
		n := len(c.due)
		c.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-c.settled:
		case <-ctx.Done():
			return
		case <-end.C:
			return
		}
	}
}
