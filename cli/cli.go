// Package cli is the command line: one file a command, with its flags, its work and its output.
//
// It promises that an error is printed once, that it says what to do, and that the exit status is 0 on success, 2 for a
// mistake in the command line, the command's own for run, and 1 for everything else.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/proxy"
	"epitome/service"
)

// app is what all commands share.
type app struct {
	defaults string           // the text of the built-in config.toml
	file     string           // --config
	flags    config.Overrides // the flags that override the configuration file
	host     *host            // that a command uses; nil for none
}

// load reads the configuration, with the flags above the file.
func (a *app) load() (config.Config, error) { return config.Load(a.defaults, a.file, a.flags) }

// Execute runs the command that args name and returns the exit status. defaults is the text of the built-in
// config.toml.
func Execute(defaults string, args []string) int {
	isUsage := true // a mistake that is found before the command begins is one in the command line
	a := &app{defaults: defaults}
	root := a.command()
	console.Self = a.self()
	root.PersistentPreRun = func(*cobra.Command, []string) {
		isUsage = false
		console.Self = a.self() // with flags
	}
	root.SetArgs(args)
	c, err := root.ExecuteC()
	if a.host != nil {
		a.host.leave()
	}
	var status exitStatus
	var child *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &child): // the end of a command that was run
		if w, ok := child.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			return 128 + int(w.Signal()) // as shells report it
		}
		return child.ExitCode()
	case isUsage:
		warn("%s\nSee '%s --help'.", strings.TrimSpace(err.Error()), c.CommandPath())
		return 2
	}
	warn("%v", err)
	return 1
}

// command is the command line as a whole.
func (a *app) command() *cobra.Command {
	cobra.MousetrapHelpText = "" // on Windows, a double click starts the proxy
	root := a.serveCommand()
	root.Use = "epitome"
	root.Short = "A transparent proxy that keeps long-running AI agents inside their model's context window."
	root.Long = root.Short + "\n\nWithout a command, epitome runs the proxy (serve)."
	root.Version = fmt.Sprintf("epitome %s\n%s for %s/%s", service.Version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true

	f := root.PersistentFlags()
	f.StringVar(&a.file, "config", "", "configuration `file` (default: epitome/config.toml in your config folder)")
	f.StringVar(&a.flags.Listen, "listen", "", "`HOST:PORT` to listen on; 0 takes a free port (default 127.0.0.1:7070)")
	f.StringVar(&a.flags.Upstream, "upstream", "", "openai, anthropic, chatgpt, a table [upstreams.`NAME`], or a base "+
		"URL (default openai)")
	f.StringVar(&a.flags.Data, "data", "", "`folder` for what is kept (default: epitome in your data folder)")
	f.StringVar(&a.flags.Mode, "mode", "", "on (default): rewrite requests; observe: only report what would be "+
		"done; off: forward everything unchanged")

	cobra.EnableCommandSorting = false
	root.AddGroup(&cobra.Group{ID: "first", Title: "Commands:"}, &cobra.Group{ID: "more", Title: "More commands:"})
	addGroup(root, "first", a.serveCommand(), a.runCommand(), a.openCommand(), a.statsCommand(), a.explainCommand(),
		a.artifactCommand(), a.checkCommand(), a.demoCommand())
	addGroup(root, "more", a.statusCommand(), a.conversationCommand(), a.handoffCommand(), a.mcpCommand(),
		a.contextCommand(), a.memoryCommand(), keyCommand(), a.serviceCommand(), a.benchCommand(), a.hostCommand(),
		&cobra.Command{Use: "version", Short: "Print the version of this program",
			Run: func(*cobra.Command, []string) { fmt.Println(root.Version) }})
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		var long strings.Builder
		if texts().ExecuteTemplate(&long, "help "+c.Name(), nil) == nil { // else the short help is all
			c.Long = long.String()
		}
		help(c, args)
	})
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	return root
}

// self is how this program was started, with the flags by which another command finds the same epitome: see
// console.Self.
func (a *app) self() string {
	name := os.Args[0]
	switch {
	case strings.Contains(name, "go-build"): // it is gone when "go run" ends
		name = "go run ."
	case name != filepath.Base(name):
		name, _ = filepath.Abs(name)
		if strings.Contains(name, " ") {
			name = strconv.Quote(name)
		}
	}
	for _, f := range [][2]string{{"config", a.file}, {"data", a.flags.Data}} {
		if f[1] != "" {
			path, _ := filepath.Abs(f[1])
			name += fmt.Sprintf(" --%s %q", f[0], path)
		}
	}
	return name
}

// addGroup adds commands under one heading of the help.
func addGroup(parent *cobra.Command, id string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = id
		if c.Args == nil {
			c.Args = cobra.NoArgs
		}
		parent.AddCommand(c)
	}
}

// verbs is a command that only holds others. Without one of them it prints its help.
func verbs(name, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

// verb is one of the commands of verbs. It works on the result of open.
func verb[T any](use, short string, args cobra.PositionalArgs, open func(*cobra.Command) (T, error),
	run func(of T, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command, args []string) error {
		of, err := open(c)
		if err != nil {
			return err
		}
		return run(of, args)
	}}
}

// exitStatus ends the program with a status and without a word.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// warn prints a line for the user beside the output, with the commands that it quotes as this program was started.
func warn(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "'epitome ", "'"+console.Self+" ")
	fmt.Fprintf(screen{os.Stderr}, "epitome: %s\n", text)
}

// stdout is standard output for text from outside: a terminal gets it as a screen does, everything else as it is.
var stdout = func() io.Writer {
	if isTerminal(os.Stdout) {
		return screen{os.Stdout}
	}
	return os.Stdout
}()

// screen shows control characters but line breaks and tabs, and other invisible characters, in place of writing them: a
// terminal would obey them.
type screen struct{ to io.Writer }

// Write takes whole characters.
func (s screen) Write(text []byte) (int, error) {
	_, err := io.WriteString(s.to, console.PlainLines(string(text)))
	return len(text), err
}

// isTerminal reports whether a person reads or writes at f.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// plain returns a text from outside as a terminal may get it: at most 200 characters, none of them a control character.
func plain(text string) string { return console.Plain(console.Shorten(text, 200)) }

// running finds the epitome that a command asks: the one of the run around the command, or the one that runs with the
// data folder, and listens there if --listen names an address.
func (a *app) running() (*daemon.Card, error) {
	listen := a.flags.Listen
	folder := os.Getenv(folderVariable)
	if folder != "" && listen == "" {
		card, err := daemon.Read(folder)
		if err != nil {
			return nil, errors.New("the epitome of this run has ended; --listen names another one")
		}
		return card, nil
	}
	conf, err := a.load()
	if err != nil {
		return nil, err
	}
	card, err := daemon.Read(conf.Data)
	where := conf.Data
	if listen != "" {
		where += " and listens on " + listen
	}
	if err != nil || listen != "" && card.Listen != config.Reachable(listen) {
		return nil, fmt.Errorf("no epitome runs with the data folder %s: start one with 'epitome serve', or give "+
			"the --data or --config of another one", where)
	}
	return card, nil
}

// reach is running, but where none runs with a data folder that has a record of an earlier one, it starts one, which ends
// with this command.
func (a *app) reach() (*daemon.Card, error) {
	conf, err := a.load()
	if err != nil {
		return nil, err
	}
	_, noRecord := os.Stat(filepath.Join(conf.Data, daemon.EventFolder))
	if noRecord != nil || a.flags.Listen != "" || os.Getenv(folderVariable) != "" {
		return a.running()
	}
	h, err := a.join(conf.Data, conf, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return h.Card, nil
}

// get decodes the answer of an epitome to a GET into answer.
func (a *app) get(target string, answer any) (*daemon.Card, error) {
	card, err := a.reach()
	if err == nil {
		err = card.Get(target, answer)
	}
	return card, err
}

// openCommand prints a link that logs a browser in to the pages of a running epitome, and starts the user's browser
// with it.
func (a *app) openCommand() *cobra.Command {
	var print bool
	c := &cobra.Command{Use: "open", SuggestFor: []string{"logs", "log", "dashboard", "ui"},
		Short: "Open the pages in a browser",
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := untilSignal()
			defer stop()
			card, err := a.reach()
			if err != nil {
				return err
			}
			link, err := card.LoginLink(console.CodeLife)
			if err != nil {
				return err
			}
			fmt.Println(link)
			if !print {
				openBrowser(link)
			}
			if a.host != nil && a.host.Hosted {
				warn("the pages can be read until Ctrl-C")
				<-ctx.Done()
			}
			return nil
		}}
	c.Flags().BoolVar(&print, "print", false, "only print the link")
	return c
}

// openBrowser starts the user's browser, or says why it cannot.
func openBrowser(link string) {
	browser := exec.Command("xdg-open", link)
	switch runtime.GOOS {
	case "windows":
		browser = exec.Command("rundll32", "url.dll,FileProtocolHandler", link)
	case "darwin":
		browser = exec.Command("open", link)
	}
	if err := browser.Start(); err != nil { // it is not waited for: some end only when they are closed
		warn("cannot start a browser: %v; open this link within a minute; it works once", err)
	}
}

// keyCommand makes a key and prints how to configure it. Nothing keeps the key.
func keyCommand() *cobra.Command {
	var client proxy.ClientConfig
	c := &cobra.Command{Use: "key CLIENT",
		Short: "Make a key by which a client may use epitome, and print its lines for config.toml or clients_file",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := config.CheckName(args[0]); err != nil {
				return err
			}
			key, table := proxy.NewKey(), args[0]
			if strings.Contains(table, ".") { // TOML would read two names
				table = strconv.Quote(table)
			}
			client.Keys = []string{proxy.HashOfKey(key)}
			lines, err := toml.Marshal(client)
			if err != nil {
				return err
			}
			_, err = fmt.Printf("The key of %s, which is shown only once:\n\n    %s\n\nFor config.toml or clients_file:\n\n"+
				"[clients.%s]\n%s", args[0], key, table, lines)
			return err
		}}
	c.Flags().StringVar(&client.Expires, "expires", "", "the last `day` on which the key is good, for example 2027-01-31")
	return c
}
