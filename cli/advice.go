package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/cli/line"
	"epitome/internal/unit"
)

// mostWrong is how many letters of a word may be wrong for another to be the one that was meant, and shortWord the
// length up to which that is one: of two words of three letters, two wrong ones leave nothing alike.
const (
	mostWrong = 2
	shortWord = 3
)

// advise is an error of the program's command line, with what was meant.
func advise(err error, args []string, program *line.Command) string {
	if flag, ok := errors.AsType[*line.UnknownFlagError](err); ok {
		return onFlag(flag)
	}
	if word, ok := errors.AsType[*line.UnexpectedError](err); ok {
		return onWord(word, args, program)
	}
	if choice, ok := errors.AsType[*line.ChoiceError](err); ok {
		if meant := nearestTo(choice.Got, choice.Choices); meant != "" {
			return err.Error() + ", did you mean " + meant + "?"
		}
	}
	return err.Error()
}

// onFlag names flags that look like it, and keys of the configuration that are called so.
func onFlag(err *line.UnknownFlagError) string {
	said := err.Error()
	if err.BeforeRest {
		said += beforeRest(err)
	} else {
		said += didYouMean(err.Flag, spelt(err.Known))
	}
	return said
}

// beforeRest is of a flag that stands where the command to run begins: it may be one of that command's own.
func beforeRest(err *line.UnknownFlagError) string {
	shown := slices.DeleteFunc(slices.Clone(err.Known), func(f *line.Parameter) bool { return f.Hidden })
	var names []string
	for _, f := range shown {
		names = append(names, f.String())
	}
	if meant := nearestTo(err.Flag, names); meant != "" {
		return fmt.Sprintf(", did you mean %q?", meant)
	}
	return ", which stands before the command to run: its own flags stand behind it"
}

// spelt is how flags are given, in each way.
func spelt(flags []*line.Parameter) (names []string) {
	for _, f := range flags {
		names = append(names, f.String())
		if f.Short != 0 {
			names = append(names, "-"+string(f.Short))
		}
	}
	return names
}

func onWord(err *line.UnexpectedError, args []string, program *line.Command) string {
	if within := namesOf(err.Of); len(within) > 0 && err.Of != program {
		return err.Error() + didYouMean(err.Word, within)
	}
	names := namesOf(program)
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) }) {
		return err.Error() // it is no command that was to stand there
	}
	if nearest := nearestTo(err.Word, names); nearest != "" {
		return err.Error() + ", did you mean " + nearest + "?"
	}
	return err.Error() + ", the commands are " + strings.Join(names, ", ")
}

// didYouMean names all words that begin so, or look like the word; it is empty if there are none.
func didYouMean(word string, words []string) string {
	var like []string
	for _, w := range words {
		if strings.HasPrefix(w, word) || wrongIn(word, w) <= mostWrong {
			like = append(like, fmt.Sprintf("%q", w))
		}
	}
	switch len(like) {
	case 0:
		return ""
	case 1:
		return ", did you mean " + like[0] + "?"
	}
	return ", did you mean one of " + strings.Join(like, ", ") + "?"
}

// nearestTo is the one of the words that looks most like the word; empty if none does.
func nearestTo(word string, words []string) (nearest string) {
	least := mostWrong + 1
	for _, w := range words {
		if n := wrongIn(word, w); n < least {
			nearest, least = w, n
		}
	}
	return nearest
}

// wrongIn is how many letters of the word are wrong if the other was meant; more than mostWrong if it was not.
func wrongIn(word, meant string) int {
	n := unit.Distance(word, meant)
	if min(len(word), len(meant)) <= shortWord && n > 1 && !isMixedUp(word, meant) {
		return mostWrong + 1
	}
	return n
}

// isMixedUp reports whether two words have the same letters.
func isMixedUp(a, b string) bool {
	letters := func(s string) []byte { return slices.Sorted(slices.Values([]byte(s))) }
	return slices.Equal(letters(a), letters(b))
}

// namesOf is what the commands are called that are shown, by which the command goes on.
func namesOf(c *line.Command) (names []string) {
	for _, child := range c.Commands() {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}
