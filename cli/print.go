package cli

import (
	"encoding/json"
	"os"
	"strings"
	"unicode"
)

// plain is a text from outside without the characters that a terminal obeys.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// printJSON prints v for programs.
func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
