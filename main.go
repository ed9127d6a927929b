// Epitome is a transparent proxy that keeps long-running AI agents inside their model's context window.
//
// This package brings the defaults with it and ends the process; what a user can ask of it is in package cli, and
// what a request goes through is in package proxy.
package main

import (
	_ "embed"
	"os"

	"epitome/cli"
)

// defaults is the configuration where the user says nothing, with what each key means.
//
//go:embed config.toml
var defaults string

func main() {
	os.Exit(cli.Execute(defaults, os.Args[1:]))
}
