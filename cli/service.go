package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) serviceCommand() *cobra.Command {
	verb := func(name, short string, run func(service.Service) error) *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.service(c.Flags())
			if err == nil {
				err = run(s)
			}
			return err
		}}
	}
	return verbs("service", "Start epitome when you log in (systemd, launchd)",
		verb("install", "Start epitome now and when you log in, with the flags given here", installService),
		verb("uninstall", "End that", func(s service.Service) error {
			_ = s.Stop() // it may have ended
			return s.Uninstall()
		}),
		verb("status", "Print whether the service runs; the exit status is 1 if not", serviceStatus))
}

// systemdUnit starts epitome at login, not at boot. It reads a file of variables: a service has not those of a shell.
//
//go:embed systemd.service
var systemdUnit string

// service is the service of the user who calls it, with the flags of this command line.
func (a *app) service(flags *pflag.FlagSet) (service.Service, error) {
	conf, err := a.load()
	if err == nil {
		_, err = conf.Admit()
	}
	if err != nil {
		return nil, err
	}
	args := []string{"serve"}
	flags.Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		if f.Name == "config" || f.Name == "data" { // a service starts in another folder
			value, _ = filepath.Abs(value)
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	s, err := service.New(nil, &service.Config{Name: "epitome", Description: "epitome, a proxy between agents and models",
		Arguments: args, Option: service.KeyValue{"UserService": true, "RunAtLoad": true, "SystemdScript": systemdUnit}})
	if err != nil || runtime.GOOS == "windows" ||
		runtime.GOOS == "linux" && exec.Command("systemctl", "--user", "show-environment").Run() != nil {
		return nil, errors.New("cannot use a service: there is no systemd or launchd for this user; " +
			"have the program that starts your session run 'epitome serve'")
	}
	return s, nil
}

func installService(s service.Service) error {
	_, _ = s.Stop(), s.Uninstall() // an earlier one makes way
	if err := errors.Join(s.Install(), s.Start()); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	return serviceStatus(s)
}

func serviceStatus(s service.Service) error {
	if state, err := s.Status(); err != nil || state != service.StatusRunning {
		fmt.Println("The service does not run.")
		return exitStatus(1)
	}
	fmt.Println("The service runs.")
	return nil
}
