// Package command is the command line: one file for each command, which reads its flags, puts together what it needs
// and prints what comes of it.
//
// It promises that an error is printed once, in one sentence that says what to do, and that the exit status is 0 where
// all went well, 2 where the command line cannot be read, the command's own for run, and 1 for everything else.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"epitome/cli/line"
	"epitome/config"
	"epitome/console/terminal"
	"epitome/instance"
)

// flags are those of all commands. Those of the group general are heeded by commands that read the configuration.
type flags struct {
	ShowHelp line.Asked `name:"help" short:"h" help:"Show context-sensitive help."`

	Config   string `group:"general" placeholder:"FILE" help:"Configuration file (TOML). Default: epitome/config.toml in your configuration folder, if it exists. 'epitome check --defaults' prints every key."`
	Listen   string `group:"general" placeholder:"HOST:PORT" help:"Address to listen on. Port 0 takes a free port. Default: 127.0.0.1:7070."`
	Upstream string `group:"general" placeholder:"NAME|URL" help:"Where requests go: the name of a configured upstream, or a base URL. Paths under /u/NAME/ keep their upstream. Default: openai (https://api.openai.com/v1)."`
	Data     string `group:"general" placeholder:"FOLDER" help:"Folder for what epitome keeps on disk, in plain text. Default: epitome in your data folder."`
	Mode     string `group:"general" placeholder:"MODE" words:"on,observe,off" help:"on rewrites where that helps, observe only says what it would do, off touches nothing. Default: on."`

	ShowVersion line.Asked `name:"version" help:"Print version, commit and date of this program."`
}

// cli is the command line.
type cli struct {
	flags

	Serve   serveCmd   `cmd:"" default:"" help:"Run the proxy in the foreground (the default command)."`
	Launch  runCmd     `cmd:"" name:"run" help:"Run a command with its base URLs pointing at epitome. Start epitome if none runs."`
	Open    openCmd    `cmd:"" help:"Open the pages of a running epitome in a browser."`
	Stats   statsCmd   `cmd:"" help:"Say what a running epitome has done, by day, model, upstream or conversation."`
	Status  statusCmd  `cmd:"" help:"Say how full the window of the newest conversation is; --line is for status lines of agents."`
	Explain explainCmd `cmd:"" help:"Say what epitome would do to a request, and why."`
	artifactCmds
	Demo  demoCmd  `cmd:"" help:"Run a long scripted session through the proxy, offline, and show what happens."`
	Check checkCmd `cmd:"" help:"Read the configuration as serve would, and say whether it is sound."`
	Bench benchCmd `cmd:"" help:"Measure epitome on this machine."`

	ownCmds

	defaults string        // the text of the program's own config.toml
	program  *line.Command // the one description of the command line
}

// artifactCmds give back what epitome took out of conversations.
type artifactCmds struct {
	Artifact artifactCmd `cmd:"" help:"Print what epitome took out of a conversation."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Serve tools by which a model reads what epitome took out, over the Model Context Protocol on standard input and output."`
}

// ownCmds are the commands that are about the program itself.
type ownCmds struct {
	Context contextCmd `cmd:"" help:"Keep files that conversations are told of."`
	Memory  memoryCmd  `cmd:"" help:"List what earlier sessions have learned, and forget it."`
	Key     keyCmd     `cmd:"" help:"Make a key for a client, and print what the configuration needs of it."`
	Service serviceCmd `cmd:"" help:"Have epitome start when you log in."`
	Version versionCmd `cmd:"" help:"Print version, commit and date of this program."`
	Assist  helpCmd    `cmd:"" name:"help" hidden:"" help:"Show what --help shows."`
}

// load reads the configuration, with the flags above the file.
func (c *cli) load() (config.Config, error) {
	return config.Load(c.defaults, c.Config, config.Overrides{
		Listen: c.Listen, Upstream: c.Upstream, Data: c.Data, Mode: c.Mode,
	})
}

// Execute does what args ask for, and returns the status to exit with. defaults is the text of the program's own
// config.toml.
func Execute(defaults string, args []string) int {
	c := cli{defaults: defaults}
	c.program = c.describe()
	parsed, err := c.program.Parse(args)
	switch {
	case err != nil:
		complain(advise(err, args, c.program))
		return 2
	case parsed.Asked == nil:
		return exitCode(c.run(parsed.Command.Target()))
	case parsed.Asked.Name == "version":
		return exitCode(versionCmd{}.Run(&c))
	}
	return exitCode(parsed.Command.WriteHelp(os.Stdout, columns()))
}

// describe is the description of the command line, which it is read by, into c. Help is made from it.
func (c *cli) describe() *line.Command {
	return line.New(line.About{
		Name: "epitome",
		Help: "A transparent proxy that keeps long-running AI agents inside their model's context window.",
		Groups: []line.Group{
			{Key: general, Title: "Flags of all commands that read the configuration, which they override:"},
			{Key: develop, Title: "For who works on epitome itself:"},
		},
	}, c)
}

// general is the group of the flags that are no command's own: they come last in its help. develop is that of flags and
// commands that measure epitome, or hold it to its goals: a user needs none of them.
const (
	general = "general"
	develop = "develop"
)

// command is what runs.
type command interface{ Run(c *cli) error }

// run runs the command whose words were read into target.
func (c *cli) run(target any) error {
	if target, ok := target.(command); ok {
		return target.Run(c)
	}
	return fmt.Errorf("BUG: cannot run a %T: it has no Run that package command knows", target)
}

// complain says what is wrong with the command line, and where to look. Further lines stand below the first one's text.
func complain(said string) {
	const leader = "epitome: error: "
	said = strings.ReplaceAll(said, "\n", "\n"+strings.Repeat(" ", len(leader)))
	fmt.Fprintln(os.Stderr, leader+said+"; 'epitome --help' lists commands and flags")
}

// columns is how many characters a line of help may have.
func columns() int {
	const usual = 80
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		return n
	}
	return cmp.Or(terminal.Width(os.Stdout), usual)
}

// exitCode reports err, if there is something to report, and is the status to end with.
func exitCode(err error) int {
	var child *exec.ExitError
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &child):
		return statusOf(child.ProcessState)
	}
	fmt.Fprintln(os.Stderr, "epitome: "+err.Error())
	return 1
}

// exitStatus ends the program with a status and without a word.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// versionText says which program this is: its version and, as far as the build knows it, of which commit.
func versionText() string {
	text := "epitome " + instance.Version()
	if commit, date, changed := instance.Commit(); commit != "" {
		text += "\ncommit " + commit + " of " + date
		if changed {
			text += ", with changes"
		}
	}
	return text + "\n" + runtime.Version() + " for " + runtime.GOOS + "/" + runtime.GOARCH
}

type versionCmd struct{}

// Run prints which program this is.
func (versionCmd) Run(*cli) error {
	_, err := fmt.Println(versionText())
	return err
}
