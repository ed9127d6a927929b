package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/kardianos/service"
)

type serviceCmd struct {
	Action string `arg:"" enum:"install,uninstall,status" help:"install has systemd or launchd start epitome now and when you log in, with the flags given here; uninstall ends that; status says how it is."`
}

// systemdUnit starts epitome at login, not at boot, and reads variables from a file: a service has not those of a shell.
//
//go:embed systemd.service
var systemdUnit string

// Run installs, removes or describes the service of the user who calls it.
func (k serviceCmd) Run(c *cli) error {
	if conf, err := c.load(); err != nil {
		return err
	} else if _, err := conf.Admit(); err != nil {
		return err
	}
	args := []string{"serve"}
	for name, value := range map[string]string{"config": c.Config, "listen": c.Listen, "upstream": c.Upstream, "data": c.Data, "mode": c.Mode} {
		if value != "" && (name == "config" || name == "data") { // a service starts in another folder
			value, _ = filepath.Abs(value)
		}
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	s, err := service.New(nil, &service.Config{Name: "epitome", Description: "epitome, a proxy between agents and models", Arguments: args,
		Option: service.KeyValue{"UserService": true, "RunAtLoad": true, "SystemdScript": systemdUnit}})
	if err != nil || runtime.GOOS == "windows" || runtime.GOOS == "linux" && exec.Command("systemctl", "--user", "show-environment").Run() != nil {
		return errors.New("cannot use a service: there is no systemd or launchd of the user; have what starts your programs run 'epitome serve'")
	}
	if k.Action != "status" {
		_, _ = s.Stop(), s.Uninstall() // an earlier one makes way
	}
	if k.Action == "install" {
		if err := errors.Join(s.Install(), s.Start()); err != nil {
			return fmt.Errorf("cannot install the service: %v", err)
		}
	}
	if state, err := s.Status(); err == nil && state == service.StatusRunning {
		fmt.Println("the service runs")
		return nil
	}
	fmt.Println("the service does not run")
	return map[string]error{"status": exitStatus(1)}[k.Action]
}
