// Package advice says what was meant by a command line that cannot be read, as far as that shows.
package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"epitome/config"
	"epitome/unit"
)

// mostWrong is how many letters of a word may be wrong for another to be the one that was meant.
const mostWrong = 2

// On adds to an error of the command line what was meant, as far as that shows.
func On(err error, args []string, commands []*kong.Node) string {
	said := strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1) // none is what is left out
	if words, got, ok := strings.Cut(said, " but got "); ok {
		_, words, _ = strings.Cut(words, "must be one of ")
		known := strings.Split(strings.ReplaceAll(words, `"`, ""), ",")
		if meant := nearestTo(strings.Trim(got, `"`), known); meant != "" {
			said += ", did you mean " + meant + "?"
		}
		return said
	}
	if flag, ok := strings.CutPrefix(said, "unknown flag --"); ok {
		name, _, _ := strings.Cut(flag, ",")
		if keys := config.KeysLike(name); len(keys) > 0 {
			return said + "; the configuration file has " + strings.Join(keys, ", ") +
				", which 'epitome check --defaults' explains"
		}
		return said
	}
	word, ok := strings.CutPrefix(said, "unexpected argument ")
	names := namesOf(commands)
	if !ok || slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) }) {
		return said // it is no command that was to stand there
	}
	nearest := nearestTo(word, names)
	if nearest == "" {
		return said + ", the commands are " + strings.Join(names, ", ")
	}
	return said + ", did you mean " + nearest + "?"
}

// CheckCommand is an error if what stands where a command begins is a flag that is not known. Behind -- it is no flag.
func CheckCommand(command []string, known []*kong.Flag) error {
	if len(command) == 0 || len(command[0]) < 2 || command[0][0] != '-' || command[0] == "--" {
		return nil
	}
	var names []string
	for _, f := range known {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	}
	flag, _, _ := strings.Cut(command[0], "=")
	if meant := nearestTo(flag, names); meant != "" {
		return fmt.Errorf("unknown flag %s, did you mean %q?", flag, meant)
	}
	return fmt.Errorf("unknown flag %s, which stands before the command to run: its own flags stand behind it", flag)
}

// nearestTo is the one of the words that looks most like the word; empty if none does.
func nearestTo(word string, words []string) (nearest string) {
	least := mostWrong + 1
	for _, w := range words {
		if n := unit.Distance(word, w); n < least {
			nearest, least = w, n
		}
	}
	return nearest
}

// namesOf is what the commands are called that are shown.
func namesOf(commands []*kong.Node) (names []string) {
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}
