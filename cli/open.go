package cli

import (
	"fmt"
	"os"

	"epitome/console/access"
)

type openCmd struct {
	Print bool `help:"Print the link instead of opening a browser."`
}

// Run opens the pages of the epitome that runs with the data folder, or of one that "epitome run" has started there,
// in a browser that they let in.
func (k openCmd) Run(c *cli) error {
	running, err := c.running("open the pages")
	if err != nil {
		return err
	}
	card := running[0]
	link, err := card.LoginLink(access.CodeLife)
	if err != nil {
		return err
	}
	if len(running) > 1 {
		fmt.Fprintln(os.Stderr, "epitome: others run too: "+others(running[1:], "open"))
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
