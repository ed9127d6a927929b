package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"epitome/config"
	"epitome/console/access"
	"epitome/instance"
)

type openCmd struct {
	Print bool `help:"Print the link instead of opening a browser."`
}

// Run opens the pages of the epitome that runs with the data folder, or of one that "epitome run" has started there,
// in a browser that they let in.
func (k openCmd) Run(c *cli) error {
	conf, err := c.load()
	if err != nil {
		return err
	}
	home, err := conf.DataFolder()
	if err != nil {
		return err
	}
	running := instance.RunningIn(instance.FoldersIn(home))
	if c.Listen != "" {
		asked := config.Reachable(c.Listen)
		running = slices.DeleteFunc(running, func(r *instance.Card) bool { return r.Listen != asked })
	}
	if len(running) == 0 {
		return fmt.Errorf("cannot open the pages: no epitome runs with the data folder %s%s; start one with 'epitome serve', "+
			"or give the --data or --config that it was started with", home, at(c.Listen))
	}
	card := running[0]
	link, err := card.LoginLink(access.CodeLife)
	if err != nil {
		return err
	}
	if len(running) > 1 {
		fmt.Fprintln(os.Stderr, "epitome: others run too: "+others(running[1:]))
	}
	if k.Print {
		_, err = fmt.Println(link)
		return err
	}
	if err := browse(link); err != nil {
		fmt.Fprintf(os.Stderr, "epitome: cannot start a browser: %v; open this link within a minute, it is good once\n", err)
		_, err = fmt.Println(link)
		return err
	}
	_, err = fmt.Println("opened " + card.Pages() + " in your browser; 'epitome open --print' prints a link for another one")
	return err
}

// at says where an epitome was looked for, if an address was given.
func at(listen string) string {
	if listen == "" {
		return ""
	}
	return " and listens on " + listen
}

// others says where epitomes listen, and how to have the pages of one of them.
func others(running []*instance.Card) string {
	var on []string
	for _, card := range running {
		on = append(on, card.Listen)
	}
	return strings.Join(on, ", ") + "; 'epitome --listen " + on[0] + " open' opens the pages of that one"
}
