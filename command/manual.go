package command

import (
	"os"

	"epitome/command/manual"
	"epitome/instance"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish. In bash, 'source <(epitome completion bash)' puts them in force."`
}

// Run prints the completions for a shell.
func (k completionCmd) Run(c *cli) error {
	text, err := manual.Completion(c.program, k.Shell)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(text)
	return err
}

type manualCmd struct{}

// Run prints the manual page.
func (manualCmd) Run(c *cli) error {
	_, date, _ := instance.Commit()
	of := manual.Edition{Version: instance.Version(), Date: date[:min(10, len(date))]}
	_, err := os.Stdout.WriteString(manual.Page(c.program, of))
	return err
}
