package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"epitome/config"
	"epitome/instance"
)

type checkCmd struct {
	Running  bool `xor:"what" help:"Ask instead whether an epitome runs with the data folder, or where --listen says, and takes requests. The exit status is 0 if it does, and 1 if not."`
	Defaults bool `xor:"what" help:"Print the built-in configuration file instead. It explains every key."`
}

func (k checkCmd) Run(c *cli) error {
	if k.Defaults {
		_, err := fmt.Print(c.defaults)
		return err
	}
	if k.Running {
		return checkRunning(c)
	}
	conf, err := c.load()
	if err != nil {
		return err
	}
	folder, err := conf.Admit()
	if err != nil {
		return err
	}
	if _, err = fmt.Printf("The configuration is sound: listen on %s, send to %s (%s), keep data in %s, mode %s.\n",
		conf.Listen, conf.Upstream, conf.Upstreams[conf.Upstream].URL, folder, conf.Mode); err != nil {
		return err
	}
	for _, card := range instance.RunningIn(folder) {
		warn(behind(conf, card)...)
	}
	return checkPort(conf, folder)
}

// behind says so of an epitome that runs with another configuration: it reads its file at its start, and when it is
// told to.
func behind(conf config.Config, card *instance.Card) (all []error) {
	r, err := card.Ask()
	switch {
	case err != nil:
		return nil
	case r.Version != instance.Version(): // it may read the same file in another way, and marks it in another way
		return []error{fmt.Errorf("the epitome on %s is of another version, %s, and this is %s: start it anew; "+
			"whether it has this configuration in force is not known", card.Listen, r.Version, instance.Version())}
	case r.Obeys(conf):
		return nil
	}
	return []error{fmt.Errorf("the epitome on %s runs with another configuration than this one, flags and environment "+
		"included: %s", card.Listen, rereading(card.PID))}
}

// warn says what keeps nothing from running.
func warn(all ...error) {
	for _, err := range all {
		fmt.Fprintln(os.Stderr, "epitome: warning: "+err.Error())
	}
}

// checkPort takes the address for a moment, and says if that fails because somebody else has it. The epitome of the
// data folder may have it: nothing is wrong then.
func checkPort(conf config.Config, folder string) error {
	ln, err := config.Listen(conf.Listen)
	if err == nil {
		return ln.Close()
	}
	for _, card := range instance.RunningIn(instance.FoldersIn(folder)...) {
		if card.Listen == config.Reachable(conf.Listen) {
			_, err := fmt.Printf("The epitome of this data folder runs, and listens on %s.\n", card.Listen)
			return err
		}
	}
	warn(instance.Occupied(conf, err))
	return nil
}

// checkRunning asks the epitome of the data folder, which has to prove that it is one, whether it takes requests.
func checkRunning(c *cli) error {
	const to = "ask epitome whether it takes requests"
	running, err := c.runningIn(to, func(home string) []string { return []string{home} })
	if err != nil {
		if others, _ := c.runningIn(to, instance.FoldersIn); len(others) > 0 {
			err = fmt.Errorf("%w; what 'epitome run' has started on %s serves its own command alone", err, others[0].Listen)
		}
		return err
	}
	card := running[0]
	answer, err := card.Answer("/-/ready", nil)
	if err != nil {
		return err
	}
	warn(troubles(answer)...)
	_, err = fmt.Printf("The epitome on %s takes requests.\n", card.Listen)
	return err
}

// troubles are the parts that an epitome cannot use now, by its answer to whether it is ready.
func troubles(answer []byte) (all []error) {
	said := map[string]string{}
	if json.Unmarshal(answer, &said) != nil {
		return nil // it takes requests, which is what was asked
	}
	for _, part := range slices.Sorted(maps.Keys(said)) {
		switch state := said[part]; state {
		case "away", "full", "memory", "refuses":
			all = append(all, fmt.Errorf("%s: %s; 'epitome stats' says what follows from that", part, state))
		}
	}
	return all
}
