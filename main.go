// Epitome is a transparent proxy that keeps long-running AI agents inside their model's context window.
//
// This package reads flags and configuration, puts the parts together and handles signals; what a request goes
// through is in package proxy.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

//go:embed config.toml
var defaultConfig string

// cli is the command line.
type cli struct {
	Config   string `placeholder:"FILE" help:"Configuration file (TOML). Default: epitome/config.toml in your configuration folder, if it exists. 'epitome check --defaults' prints every key."`
	Listen   string `placeholder:"HOST:PORT" help:"Address to listen on. Port 0 takes a free port. Default: 127.0.0.1:7070."`
	Upstream string `placeholder:"NAME|URL" help:"Where requests go: the name of a configured upstream, or a base URL. Paths under /u/NAME/ keep their upstream. Default: openai (https://api.openai.com/v1)."`
	Data     string `placeholder:"FOLDER" help:"Folder for what epitome keeps on disk, in plain text. Default: epitome in your data folder."`
	Mode     string `placeholder:"MODE" help:"on rewrites where that helps, observe only says what it would do, off touches nothing. Default: on."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Serve    serveCmd    `cmd:"" default:"withargs" help:"Run the proxy in the foreground (the default command)."`
	Run      runCmd      `cmd:"" help:"Run a command with its base URLs pointing at epitome. Start epitome if none runs."`
	Explain  explainCmd  `cmd:"" help:"Say what epitome would do to a request, and why."`
	Artifact artifactCmd `cmd:"" help:"Print what epitome took out of a conversation."`
	Demo     demoCmd     `cmd:"" help:"Run a long scripted session through the proxy, offline, and show what happens."`
	Check    checkCmd    `cmd:"" help:"Read the configuration as serve would, and say whether it is sound."`
	Bench    benchCmd    `cmd:"" help:"Measure epitome on this machine."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

// overrides are the flags that stand above the configuration file.
func (c *cli) overrides() Overrides {
	return Overrides{Listen: c.Listen, Upstream: c.Upstream, Data: c.Data, Mode: c.Mode}
}

func main() { os.Exit(run(os.Args[1:])) }

// run is the program but for its exit.
func run(args []string) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var c cli
	parser, err := kong.New(&c, kong.Name("epitome"), kong.UsageOnError(), kong.Vars{"version": "epitome " + version()},
		kong.Description("A transparent proxy that keeps long-running AI agents inside their model's context window."))
	if err != nil {
		panic("BUG: the command line is not well-formed: " + err.Error())
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		parser.Errorf("%v; 'epitome --help' lists commands and flags", err)
		return 2
	}
	return exitCode(parsed.Run(&c))
}

// gcPercent lets garbage, which is mostly bodies that have been sent, grow to four times what is in use. What is in
// use is small: the default would collect after every few large requests.
const gcPercent = 400

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

type versionCmd struct{}

func (versionCmd) Run() error {
	_, err := fmt.Println("epitome " + version())
	return err
}

// version is the module's version or, for a build from a checkout, its commit.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" && b.Main.Version == "(devel)" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return b.Main.Version
}

type checkCmd struct {
	Defaults bool `help:"Print the built-in configuration file instead. It explains every key."`
}

func (k checkCmd) Run(c *cli) error {
	if k.Defaults {
		_, err := fmt.Print(defaultConfig)
		return err
	}
	conf, err := Load(defaultConfig, c.Config, c.overrides())
	if err != nil {
		return err
	}
	folder, err := conf.admit()
	if err != nil {
		return err
	}
	_, err = fmt.Printf("The configuration is sound: listen on %s, send to %s (%s), keep data in %s, mode %s.\n",
		conf.Listen, conf.Upstream, conf.Upstreams[conf.Upstream].URL, folder, conf.Mode)
	return err
}

// newLog writes text for a person at a terminal and JSON for everything else.
func newLog(f *os.File) *slog.Logger {
	if isTerminal(f) {
		return slog.New(slog.NewTextHandler(f, nil))
	}
	return slog.New(slog.NewJSONHandler(f, nil))
}
