// Epitome is a transparent proxy that keeps long-running AI agents inside their model's context window.
//
// This package brings the defaults with it and ends the process; what a user can ask of it is in package command, and
// what a request goes through is in package proxy.
package main

//go:generate go run ./internal/tables

import (
	_ "embed"
	"os"
	"runtime/debug"

	"epitome/command"
)

// defaults is the configuration where the user says nothing, with what each key means.
//
//go:embed config.toml
var defaults string

// gcPercent lets a start pass without a collection, and garbage, which is mostly bodies that have been sent, grow to
// some eighty megabytes. What is in use is small: the default would collect after every few large requests.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(command.Execute(defaults, os.Args[1:]))
}
