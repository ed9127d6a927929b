package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/proxy"
)

// keyCommand makes a key and prints how to configure it. Nothing keeps the key.
func keyCommand() *cobra.Command {
	return &cobra.Command{Use: "key CLIENT",
		Short: "Make a key by which a client may use epitome, and print its lines for config.toml",
		Args:  exactlyOne,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := config.CheckName(args[0]); err != nil {
				return err
			}
			key, table := proxy.NewKey(), args[0]
			if strings.Contains(table, ".") { // TOML would read two names
				table = strconv.Quote(table)
			}
			_, err := fmt.Printf("The key of %s, which is shown only once:\n\n    %s\n\nFor config.toml:\n\n"+
				"    [clients.%s]\n    keys = [%q]\n", args[0], key, table, proxy.HashOfKey(key))
			return err
		}}
}
