package cli

import (
	"encoding/json"
	"os"

	"epitome/console/figure"
)

// printJSON prints v for programs.
func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// plain returns a text from outside as a terminal may get it: at most 200 characters, none of them a control character.
func plain(text string) string { return figure.Plain(figure.Shorten(text, 200)) }
