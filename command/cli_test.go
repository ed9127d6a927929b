package command

import (
	"strings"
	"testing"

	"epitome/command/line"
)

// Each command is well-formed, its defaults can be read, and it can be run.
func TestEveryCommandCanBeRun(t *testing.T) {
	leaves := 0
	var visit func(c *line.Command)
	visit = func(c *line.Command) {
		for _, child := range c.Commands() {
			visit(child)
		}
		if len(c.Commands()) > 0 {
			return
		}
		leaves++
		switch c.Target().(type) {
		case command, room:
		default:
			t.Errorf("%s: nothing runs a %T", c.Path(), c.Target())
		}
		_, err := new(cli).describe().Parse(strings.Fields(c.Path()))
		if err != nil && !strings.HasPrefix(err.Error(), "expected ") {
			t.Errorf("%s: %v", c.Path(), err)
		}
	}
	visit(new(cli).describe())
	if leaves < 30 {
		t.Errorf("there are %d commands", leaves)
	}
}

// Every start reads its line: what that takes is there before the first collection of garbage.
func TestALineTakesLittle(t *testing.T) {
	const most = 200
	got := testing.AllocsPerRun(10, func() {
		if _, err := new(cli).describe().Parse([]string{"serve", "--listen", "127.0.0.1:0"}); err != nil {
			t.Error(err)
		}
	})
	if got > most {
		t.Errorf("reading a line takes %v allocations, at most %v", got, most)
	}
}
