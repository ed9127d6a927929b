package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"epitome/instance/service"
)

type serviceCmd struct {
	Install serviceInstallCmd `cmd:"" help:"Have your own service manager (systemd, launchd) start epitome now and when you log in, with the flags given here."`
	Status  serviceStatusCmd  `cmd:"" help:"Say whether that service is installed and runs; exit with status 1 if it does not run."`
	Remove  serviceRemoveCmd  `cmd:"" help:"Stop the service and take it away."`
}

type (
	serviceInstallCmd struct{}
	serviceStatusCmd  struct{}
	serviceRemoveCmd  struct{}
)

// Run installs a service for a configuration that is sound.
func (serviceInstallCmd) Run(c *cli) error {
	conf, err := c.load()
	if err != nil {
		return err
	}
	if _, err := conf.Admit(); err != nil {
		return err
	}
	place, err := c.place()
	if err != nil {
		return err
	}
	return printed(service.Install(place))
}

// Run says how the service is.
func (serviceStatusCmd) Run(c *cli) error {
	place, err := c.place()
	if err != nil {
		return err
	}
	said, runs, err := service.Status(place)
	if err := printed(said, err); err != nil || runs {
		return err
	}
	return exitStatus(1)
}

// Run takes the service away.
func (serviceRemoveCmd) Run(c *cli) error {
	place, err := c.place()
	if err != nil {
		return err
	}
	return printed(service.Remove(place))
}

func printed(said string, err error) error {
	if err == nil {
		_, err = fmt.Println(said)
	}
	return err
}

// place is whose service it is, with the flags that were given: a service starts in another folder than this command.
func (c *cli) place() (service.Place, error) {
	program, err := os.Executable()
	if err != nil {
		return service.Place{}, fmt.Errorf("cannot find epitome's own program file: %w", err)
	}
	var args []string
	for _, flag := range []struct {
		name, value string
		path        bool
	}{
		{"config", c.Config, true}, {"listen", c.Listen, false}, {"upstream", c.Upstream, false},
		{"data", c.Data, true}, {"mode", c.Mode, false},
	} {
		if flag.value == "" {
			continue
		}
		if flag.path {
			if flag.value, err = filepath.Abs(flag.value); err != nil {
				return service.Place{}, err
			}
		}
		args = append(args, "--"+flag.name, flag.value)
	}
	return service.Place{System: runtime.GOOS, Getenv: os.Getenv, User: os.Getuid(), Program: program, Args: args,
		Run: func(name string, args ...string) (string, error) {
			said, err := exec.Command(name, args...).CombinedOutput()
			return string(said), err
		}}, nil
}
