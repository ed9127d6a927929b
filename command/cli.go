// Package command is the command line: one file for each command, which reads its flags, puts together what it needs
// and prints what comes of it.
//
// It promises that an error is printed once, in one sentence that says what to do, and that the exit status is 0 where
// all went well, 2 where the command line cannot be read, the command's own for run, and 1 for everything else.
package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"

	"github.com/alecthomas/kong"

	"epitome/command/advice"
	"epitome/command/handing"
	"epitome/command/logging"
	"epitome/command/notes"
	"epitome/config"
	"epitome/instance"
)

// flags are those of all commands that read the configuration.
type flags struct {
	Config   string `group:"general" placeholder:"FILE" help:"Configuration file (TOML). Default: epitome/config.toml in your configuration folder, if it exists. 'epitome check --defaults' prints every key."`
	Listen   string `group:"general" placeholder:"HOST:PORT" help:"Address to listen on. Port 0 takes a free port. Default: 127.0.0.1:7070."`
	Upstream string `group:"general" placeholder:"NAME|URL" help:"Where requests go: the name of a configured upstream, or a base URL. Paths under /u/NAME/ keep their upstream. Default: openai (https://api.openai.com/v1)."`
	Data     string `group:"general" placeholder:"FOLDER" help:"Folder for what epitome keeps on disk, in plain text. Default: epitome in your data folder."`
	Mode     string `group:"general" placeholder:"MODE" words:"on,observe,off" help:"on rewrites where that helps, observe only says what it would do, off touches nothing. Default: on."`
}

// cli is the command line.
type cli struct {
	flags
	ShowVersion kong.VersionFlag `name:"version" help:"Print version, commit and date of this program."`

	Serve   serveCmd   `cmd:"" default:"withargs" help:"Run the proxy in the foreground (the default command)."`
	Launch  runCmd     `cmd:"" name:"run" help:"Run a command with its base URLs pointing at epitome. Start epitome if none runs."`
	Open    openCmd    `cmd:"" help:"Open the pages of a running epitome in a browser."`
	Stats   statsCmd   `cmd:"" help:"Say what a running epitome has done, by day, model, upstream or conversation."`
	Status  statusCmd  `cmd:"" help:"Say how full the window of the newest conversation is; --line is for status lines of agents."`
	Top     topCmd     `cmd:"" help:"Watch the conversations of a running epitome."`
	Explain explainCmd `cmd:"" help:"Say what epitome would do to a request, and why."`
	artifactCmds
	Demo  demoCmd  `cmd:"" help:"Run a long scripted session through the proxy, offline, and show what happens."`
	Check checkCmd `cmd:"" help:"Read the configuration as serve would, and say whether it is sound."`
	Bench benchCmd `cmd:"" help:"Measure epitome on this machine."`

	ownCmds

	defaults string // the text of the program's own config.toml
}

// artifactCmds give back what epitome took out of conversations.
type artifactCmds struct {
	Artifact artifactCmd `cmd:"" help:"Print what epitome took out of a conversation."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Serve tools by which a model reads what epitome took out, over the Model Context Protocol on standard input and output."`
}

// ownCmds are the commands that are about the program itself.
type ownCmds struct {
	Context    handing.Command `cmd:"" help:"Keep files that conversations are told of."`
	Memory     notes.Command   `cmd:"" help:"List what earlier sessions have learned, and forget it."`
	Store      storeCmd        `cmd:"" help:"Copy what epitome has kept from one place to another."`
	Key        keyCmd          `cmd:"" help:"Make a key for a client, and print what the configuration needs of it."`
	Service    serviceCmd      `cmd:"" help:"Have epitome start when you log in."`
	Completion completionCmd   `cmd:"" help:"Print completions for a shell."`
	Manual     manualCmd       `cmd:"" help:"Print the manual page, for man: 'epitome manual | man -l -' shows it."`
	Version    versionCmd      `cmd:"" help:"Print version, commit and date of this program."`
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
	parser := c.parser()
	parsed, err := parser.Parse(args)
	if err == nil {
		err = advice.CheckCommand(c.Launch.Command, parsed.Flags())
	}
	if err != nil {
		parser.Errorf("%s; 'epitome --help' lists commands and flags", advice.On(err, args, parser.Model.Children))
		return 2
	}
	return exitCode(parsed.Run(&c, handing.Load(c.load), notes.Load(c.load)))
}

// parser reads the command line into c. Its model is the one description of the command line: help, the manual page and
// completions are made from it.
func (c *cli) parser() *kong.Kong {
	parser, err := kong.New(c, kong.Name("epitome"), kong.UsageOnError(), kong.Vars{"version": versionText()},
		kong.KindMapper(reflect.Int, kong.MapperFunc(readWholeNumber)),
		kong.ExplicitGroups([]kong.Group{
			{Key: general, Title: "Flags of all commands that read the configuration, which they override:"},
			{Key: develop, Title: "For who works on epitome itself:"},
		}),
		kong.Description("A transparent proxy that keeps long-running AI agents inside their model's context window."))
	if err != nil {
		panic("BUG: the command line is not well-formed: " + err.Error())
	}
	return parser
}

// general is the group of the flags that are no command's own: they come last in its help. develop is that of flags and
// commands that measure epitome, or hold it to its goals: a user needs none of them.
const (
	general = "general"
	develop = "develop"
)

// readWholeNumber reads a whole number, also one below zero, so that its flag says what is wrong with it.
func readWholeNumber(ctx *kong.DecodeContext, target reflect.Value) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("write a whole number behind it")
	}
	n, err := strconv.Atoi(token.String())
	if err != nil {
		return fmt.Errorf("cannot read %q: write a whole number", token)
	}
	target.SetInt(int64(n))
	return nil
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

func (versionCmd) Run() error {
	_, err := fmt.Println(versionText())
	return err
}

// isTerminal reports whether somebody reads along.
func isTerminal(f *os.File) bool { return logging.IsTerminal(f) }
