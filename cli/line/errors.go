package line

import (
	"fmt"
	"strings"
)

// UnknownFlagError is a flag that nothing on the line has.
type UnknownFlagError struct {
	Flag       string // --name, or - and a letter
	Known      []*Parameter
	BeforeRest bool // it stands before an argument that takes all that is left
}

func (e *UnknownFlagError) Error() string { return "unknown flag " + e.Flag }

// UnexpectedError is a word that is no argument of the command and names none by which it goes on.
type UnexpectedError struct {
	Word string
	Of   *Command
}

func (e *UnexpectedError) Error() string { return "unexpected argument " + e.Word }

// ChoiceError is a value that a flag or an argument may not have.
type ChoiceError struct {
	Of      *Parameter
	Got     string
	Choices []string
}

func (e *ChoiceError) Error() string {
	return fmt.Sprintf(`%s must be one of "%s" but got %q`, e.Of, strings.Join(e.Choices, `","`), e.Got)
}
