package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{Use: "serve", SuggestFor: []string{"start", "up", "daemon"},
		Short: "Run the proxy in the foreground (the default command)",
		RunE:  func(*cobra.Command, []string) error { return serve(a.load) }}
}

// serve runs the proxy until a signal ends it, or the end of the last command that uses it if it is hosted.
func serve(load func() (config.Config, error)) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // else a closed standard error ends the process
	conf, err := load()
	if err != nil {
		return err
	}
	log, end := openLog(conf.Log.Level)
	defer end()
	d, err := daemon.Start(log, signals, load)
	if err != nil {
		return err
	}
	if conf.Hosted {
		go func() {
			users := daemon.AwaitUsers(conf.Data)
			signals <- os.Interrupt
			<-make(chan struct{}) // this process ends with the lock
			runtime.KeepAlive(users)
		}()
	}
	return d.Serve()
}

func (a *app) serviceCommand() *cobra.Command {
	return verbs("service", "Start epitome when you log in (systemd, launchd)",
		verb("install", "Start epitome now and when you log in, with the flags given here", cobra.NoArgs, a.service,
			installService),
		verb("uninstall", "Stop epitome, and no longer start it when you log in", cobra.NoArgs, a.service,
			uninstallService))
}

// systemdUnit starts epitome at login, not at boot. It reads a file of variables: a service has not those of a shell.
//
//go:embed systemd.service
var systemdUnit string

// service is the service of the user who calls it, with the flags of a command.
func (a *app) service(c *cobra.Command) (service.Service, error) {
	conf, err := a.load()
	if err == nil {
		err = conf.Admit()
	}
	if err != nil {
		return nil, err
	}
	args := []string{"serve"}
	c.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		if f.Name == "config" || f.Name == "data" { // a service starts in another folder
			value, _ = filepath.Abs(value)
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	s, err := service.New(nil, &service.Config{
		Name: "epitome", Description: "epitome, a proxy between agents and models", Arguments: args,
		Option: service.KeyValue{"UserService": true, "RunAtLoad": true, "SystemdScript": systemdUnit},
	})
	if err != nil || runtime.GOOS == "windows" ||
		runtime.GOOS == "linux" && exec.Command("systemctl", "--user", "show-environment").Run() != nil {
		return nil, errors.New("cannot use a service: there is no systemd or launchd for this user; " +
			"start 'epitome serve' from your shell's login file")
	}
	return s, nil
}

func installService(s service.Service, _ []string) error {
	_, _ = s.Stop(), s.Uninstall() // an earlier one makes way
	err := s.Install()
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return fmt.Errorf("cannot install the service: %v", err) // wrapped, it would count as the end of a command of run
	}
	fmt.Printf("The service is installed and started. '%s check --running' says whether it takes requests.\n", console.Self)
	return nil
}

func uninstallService(s service.Service, _ []string) error {
	_ = s.Stop() // it may have ended
	if err := s.Uninstall(); err != nil {
		return fmt.Errorf("cannot uninstall the service: %v", err)
	}
	return nil
}
