package cli

import (
	"os"
	"slices"

	"epitome/cli/line"
)

// helpCmd is for who writes "epitome help demo" for "epitome demo --help".
type helpCmd struct {
	Words []string `arg:"" optional:"" name:"command" help:"Of which command."`
}

// Run shows help of the command that the words name.
func (k helpCmd) Run(c *cli) error {
	of := c.program
	for _, word := range k.Words {
		i := slices.IndexFunc(of.Commands(), func(child *line.Command) bool { return child.Name == word })
		if i < 0 {
			complain(advise(&line.UnexpectedError{Word: word, Of: of}, k.Words, c.program))
			return exitStatus(2)
		}
		of = of.Commands()[i]
	}
	return of.WriteHelp(os.Stdout, columns())
}
