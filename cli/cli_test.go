package cli

import (
	"strings"
	"testing"

	"epitome/cli/line"
)

// Each command is well-formed, its defaults can be read, and it can be run.
func TestEveryCommandCanBeRun(t *testing.T) {
	var visit func(c *line.Command)
	visit = func(c *line.Command) {
		for _, child := range c.Commands() {
			visit(child)
		}
		if len(c.Commands()) > 0 {
			return
		}
		if _, ok := c.Target().(command); !ok {
			t.Errorf("%s: nothing runs a %T", c.Path(), c.Target())
		}
		_, err := new(cli).describe().Parse(strings.Fields(c.Path()))
		if err != nil && !strings.HasPrefix(err.Error(), "expected ") {
			t.Errorf("%s: %v", c.Path(), err)
		}
	}
	visit(new(cli).describe())
}
