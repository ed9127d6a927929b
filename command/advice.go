package command

import (
	"slices"
	"strings"

	"epitome/config"
	"epitome/unit"
)

// mostWrong is how many letters of a command may be wrong for it to be the one that was meant.
const mostWrong = 2

// advise adds to an error of the command line what was meant, as far as that shows.
func advise(err error, args, commands []string) string {
	said := strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1) // none is what is left out
	if flag, ok := strings.CutPrefix(said, "unknown flag --"); ok {
		name, _, _ := strings.Cut(flag, ",")
		if keys := config.KeysLike(name); len(keys) > 0 {
			return said + "; the configuration file has " + strings.Join(keys, ", ") +
				", which 'epitome check --defaults' explains"
		}
		return said
	}
	word, ok := strings.CutPrefix(said, "unexpected argument ")
	if !ok || slices.ContainsFunc(args, func(a string) bool { return slices.Contains(commands, a) }) {
		return said // it is no command that was to stand there
	}
	nearest, least := "", mostWrong+1
	for _, c := range commands {
		if n := unit.Distance(word, c); n < least {
			nearest, least = c, n
		}
	}
	if nearest == "" {
		return said + ", the commands are " + strings.Join(commands, ", ")
	}
	return said + ", did you mean " + nearest + "?"
}
