package cli

import (
	"fmt"
	"strconv"
	"strings"

	"epitome/config"
	"epitome/proxy"
)

type keyCmd struct {
	Name string `arg:"" help:"The client's name, as [proxy.NAME] of the configuration has it."`
}

// Run makes a key and prints what to do with it. Nothing keeps the key.
func (k keyCmd) Run(*cli) error {
	if err := config.CheckClientName(k.Name); err != nil {
		return err
	}
	key, table := proxy.NewKey(), k.Name
	if strings.Contains(table, ".") { // TOML would take it for two
		table = strconv.Quote(table)
	}
	_, err := fmt.Printf("The key of %s, which nobody can print again:\n\n    %s\n\nWhat the configuration needs of it:\n\n"+
		"    [clients.%s]\n    keys = [%q]\n", k.Name, key, table, proxy.HashOfKey(key))
	return err
}
