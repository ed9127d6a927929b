package cli

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"epitome/config"
	"epitome/console/story/api"
	"epitome/instance"
)

// running are the epitomes that run with the data folder, or that "epitome run" has started there: the one that a
// command is to ask comes first. Within a run it is that of the run alone, unless the command line says where another
// one listens. to says what it is asked for.
func (c *cli) running(to string) ([]*instance.Card, error) {
	if c.Listen != "" {
		return c.runningIn(to, instance.FoldersIn)
	}
	around, listen := instance.Around()
	switch {
	case listen == "":
		return c.runningIn(to, instance.FoldersIn)
	case around == nil:
		return nil, fmt.Errorf("cannot %s: the epitome of this run, on %s, does not run any more; "+
			"--listen says which other one to ask", to, listen)
	}
	return []*instance.Card{around}, nil
}

// folders are those in which epitomes of the data folder run; none if nobody can say which that is.
func (c *cli) folders() []string {
	conf, err := c.load()
	if err != nil {
		return nil
	}
	home, err := conf.DataFolder()
	if err != nil {
		return nil
	}
	return instance.FoldersIn(home)
}

// runningIn are those whose folders belong to the data folder.
func (c *cli) runningIn(to string, folders func(home string) []string) ([]*instance.Card, error) {
	conf, err := c.load()
	if err != nil {
		return nil, err
	}
	home, err := conf.DataFolder()
	if err != nil {
		return nil, err
	}
	running := instance.RunningIn(folders(home)...)
	if c.Listen != "" {
		asked := config.Reachable(c.Listen)
		running = slices.DeleteFunc(running, func(r *instance.Card) bool { return r.Listen != asked })
	}
	if len(running) == 0 {
		return nil, fmt.Errorf("cannot %s: no epitome runs with the data folder %s%s; start one with 'epitome serve', "+
			"or give the --data or --config that it was started with", to, home, at(c.Listen))
	}
	return running, nil
}

// at says where an epitome was looked for, if an address was given.
func at(listen string) string {
	if listen == "" {
		return ""
	}
	return " and listens on " + listen
}

// others says where epitomes listen, and how to give the command to one of them.
func others(running []*instance.Card, command string) string {
	var on []string
	for _, card := range running {
		on = append(on, card.Listen)
	}
	return strings.Join(on, ", ") + "; 'epitome --listen " + on[0] + " " + command + "' is for that one"
}

// asking asks an epitome what has happened.
func asking(card *instance.Card) api.Client {
	return api.Client{Get: func(path string, query url.Values) ([]byte, error) {
		answer, err := card.Answer(path, query)
		if errors.Is(err, instance.ErrNoAnswer) {
			return nil, api.ErrNotFound
		}
		return answer, err
	}}
}
