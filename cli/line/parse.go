package line

import (
	"fmt"
	"slices"
	"strings"
)

// Parsed is what a line asks for.
type Parsed struct {
	Command *Command   // the innermost that it names, or that is meant by none
	Asked   *Parameter // the first flag for a text in the place of what the command does; nil if none was given
}

// Parse reads the words behind the program's name into the structs. Where a line asks for a text, the rest of it has to
// be understood, and need not be complete.
func (c *Command) Parse(args []string) (Parsed, error) {
	r := reader{words: Words{rest: args}}
	r.enter(c)
	for len(r.words.rest) > 0 {
		if err := r.step(); err != nil {
			return Parsed{}, err
		}
	}
	if r.asked != nil {
		return Parsed{r.at, r.asked}, nil
	}
	if fallback := r.at.open().fallback; fallback != nil {
		r.at = fallback
	}
	return Parsed{r.at, nil}, complete(r.at)
}

// reader is where the reading of a line stands.
type reader struct {
	words  Words
	at     *Command
	flags  []*Parameter // that can be given here
	filled int          // arguments of the command that were given
	asked  *Parameter
}

// enter goes on with the words of a command. One that is meant by none lends it its flags.
func (r *reader) enter(c *Command) {
	r.at, r.filled, r.flags = c, 0, nil
	if fallback := c.open().fallback; fallback != nil {
		c = fallback
	}
	for _, of := range c.lineage() {
		r.flags = append(r.flags, of.Flags()...)
	}
}

// step reads a flag, an argument or the name of a command.
func (r *reader) step() error {
	word := r.words.rest[0]
	switch {
	case r.words.literal, !looksLikeFlag(word):
		return r.readPlain(word)
	case word == "--":
		if r.words.literal = true; !r.awaitsRest() {
			r.words.Next()
		}
		return nil
	case strings.HasPrefix(word, "--"):
		return r.readFlag(word)
	}
	return r.readLetters(word)
}

// awaitsRest reports whether the next argument takes all that is left.
func (r *reader) awaitsRest() bool {
	all := r.at.Arguments()
	return r.filled < len(all) && all[r.filled].TakesRest()
}

func (r *reader) readPlain(word string) error {
	if all := r.at.Arguments(); r.filled < len(all) {
		r.words.literal = r.words.literal || r.awaitsRest()
		r.filled++
		return all[r.filled-1].read(&r.words)
	}
	for _, c := range r.at.Commands() {
		if c.Name == word {
			r.words.Next()
			return r.leaveFor(c)
		}
	}
	if fallback := r.at.open().fallback; fallback != nil {
		r.enter(fallback)
		return nil
	}
	return &UnexpectedError{Word: word, Of: r.at}
}

// leaveFor enters a command that is named. It must not lose flags of the one that would be meant without it.
func (r *reader) leaveFor(c *Command) error {
	if fallback := r.at.open().fallback; fallback != nil && fallback != c {
		for _, f := range fallback.Flags() {
			if f.given {
				return fmt.Errorf("flag %s applies to the default command %q, not %q", f, fallback.Name, c.Name)
			}
		}
	}
	r.enter(c)
	return nil
}

func (r *reader) readFlag(word string) error {
	r.words.Next()
	name, value, attached := strings.Cut(word, "=")
	i := slices.IndexFunc(r.flags, func(f *Parameter) bool { return f.String() == name })
	if i < 0 {
		return r.refuse(name)
	}
	if attached {
		r.words.attached = &value
	}
	return r.give(r.flags[i])
}

// readLetters reads flags of one letter, which may stand together.
func (r *reader) readLetters(word string) error {
	r.words.Next()
	for _, letter := range word[1:] {
		i := slices.IndexFunc(r.flags, func(f *Parameter) bool { return f.Short != 0 && f.Short == letter })
		if i < 0 {
			return r.refuse("-" + string(letter))
		}
		if err := r.give(r.flags[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) give(flag *Parameter) error {
	if _, ok := flag.target.(*Asked); ok && r.asked == nil {
		r.asked = flag
	}
	return flag.read(&r.words)
}

func (r *reader) refuse(flag string) error {
	return &UnknownFlagError{Flag: flag, Known: r.flags, BeforeRest: r.awaitsRest()}
}
