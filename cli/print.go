package cli

import (
	"encoding/json"
	"os"
)

// printJSON prints v for programs.
func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
