package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidwall/match"

	"epitome/console"
	"epitome/daemon"
	"epitome/offload"
	"epitome/service"
)

func (a *app) artifactCommand() *cobra.Command {
	var lines, grep string
	c := &cobra.Command{Use: "artifact ID|PATH|URL...", Short: "Print what epitome took out of a conversation",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.printArtifacts(args, lines, grep) }}
	var conversation string
	find := &cobra.Command{Use: "find WORD", Short: "Find a word or a regular expression in the text that a running " +
		"epitome took out, ignoring case",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.findArtifacts(conversation, args[0]) }}
	find.Flags().StringVar(&conversation, "conversation", "", "search only conversations whose ID begins with `ID`")
	c.AddCommand(find)
	c.Flags().StringVar(&lines, "lines", "", "print only the lines `A-B`, counted from 1; A-, -B and A work too")
	c.Flags().StringVar(&grep, "grep", "", "print only lines that match a Go `regular expression`, each with its "+
		"number in front")
	return c
}

// printArtifacts prints artifacts in the order named, each once, or the lines that are wanted of them. The error names
// all that cannot be printed.
func (a *app) printArtifacts(named []string, lines, grep string) error {
	want, err := offload.ParseRange(lines, grep)
	if err != nil {
		return err
	}
	var names []string
	var failed error
	for _, of := range named {
		found, err := a.findNames(of)
		names = append(names, found...)
		failed = errors.Join(failed, err)
	}
	for k, name := range names {
		if slices.Contains(names[:k], name) {
			continue
		}
		content, err := a.readArtifact(name)
		if err == nil {
			content, err = offload.Select(context.Background(), content, want)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("cannot print artifact %s: %w", name, err))
			continue
		}
		if len(names) > 1 { // standard output has the contents alone
			fmt.Fprintf(os.Stderr, "\n==> %s <==\n", name)
		}
		if _, err := stdout.Write(content); err != nil {
			return err
		}
	}
	return failed
}

// findNames returns the name in an id, or in a path or URL that ends in one; for an id with wildcards, the names of all
// files that it fits.
func (a *app) findNames(of string) (names []string, err error) {
	address, _, _ := strings.Cut(of, "?")
	id := strings.TrimSuffix(path.Base(filepath.ToSlash(address)), ".txt")
	if offload.IsName(id) {
		return []string{id}, nil
	}
	if !strings.Contains(id, "*") {
		return nil, fmt.Errorf("cannot look for artifact %.60q: an id is 26 characters of a to z and 2 to 7; "+
			"* stands for any of them", of)
	}
	conf, err := a.load()
	if err != nil {
		return nil, err
	}
	if conf.Offload.Bucket != "" {
		return nil, fmt.Errorf("cannot look for artifact %.60q in a bucket: write the whole id", of)
	}
	for _, folder := range daemon.FoldersIn(conf.Data) {
		files, _ := os.ReadDir(daemon.ArtifactsIn(conf, folder)) // there may be none
		for _, file := range files {
			name := strings.TrimSuffix(file.Name(), ".txt")
			if offload.IsName(name) && match.Match(name, id) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		err = fmt.Errorf("cannot print artifact %.60q: no id fits it; --data or --config names another data folder", of)
	}
	return names, err
}

// readArtifact reads the artifact of a name in the data folder, or in those below it that "epitome run" makes.
func (a *app) readArtifact(name string) ([]byte, error) {
	conf, err := a.load()
	if err != nil {
		return nil, err
	}
	for _, folder := range daemon.FoldersIn(conf.Data) {
		var content []byte
		shelf, err := daemon.OpenArtifacts(conf, folder)
		if err == nil {
			content, err = shelf.Get(name)
		}
		if !errors.Is(err, offload.ErrUnknown) {
			return content, err
		}
	}
	return nil, fmt.Errorf("%w; --data or --config names another data folder", offload.ErrUnknown)
}

// findArtifacts prints the lines that match a regular expression of all that a running epitome has taken out of the
// conversations whose IDs have the given beginning. The conversation, the turn and the artifact stand above them.
func (a *app) findArtifacts(beginning, pattern string) error {
	card, err := a.reach()
	if err != nil {
		return err
	}
	var hits []console.Hit
	query := url.Values{"find": {pattern}, "conversation": {beginning}}
	if err := card.Search("/-/api/find?"+query.Encode(), &hits); err != nil {
		return fmt.Errorf("cannot find %s: %w", pattern, err)
	}
	for _, h := range hits {
		fmt.Fprintf(stdout, "%s turn %d, %s, %s %s:\n%s", h.Conversation, h.Turn, h.Edit.Messages(), h.Edit.Rung,
			h.Edit.Artifact, h.Lines)
	}
	if len(hits) == 0 {
		return fmt.Errorf("cannot find %s in anything that was taken out of a conversation", pattern)
	}
	return nil
}

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{Use: "mcp", Short: "Serve tools for artifacts over MCP, on standard input and output",
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := untilSignal()
			defer stop()
			find := func(_ context.Context, _ http.Header, artifact, word string) (text string, err error) {
				query := url.Values{"find": {word}, "artifact": {artifact}}
				card, err := a.reach()
				if err == nil {
					err = card.Search("/-/api/find?"+query.Encode(), &text)
				}
				return text, err
			}
			return console.ServeMCP(ctx, service.Version(), a.readArtifact, find)
		}}
}
