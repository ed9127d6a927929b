package manual

import (
	"fmt"
	"strings"

	"epitome/command/line"
)

// Completion is the program's completions for a shell: bash, zsh or fish.
func Completion(app *line.Command, shell string) (string, error) {
	switch shell {
	case "bash":
		return bash(app), nil
	case "zsh":
		return zsh(app), nil
	case "fish":
		return fish(app), nil
	}
	return "", fmt.Errorf("cannot complete for %q: write bash, zsh or fish", shell)
}

// filled is a template with each NAME@ in the place of its text.
func filled(template string, texts map[string]string) string {
	for name, text := range texts {
		template = strings.ReplaceAll(template, name+"@", text)
	}
	return template
}

// bashScript reads the words before the cursor up to a command, and offers what may follow. Words of a command that
// "run" is to start are none of the program's.
const bashScript = `# Completions of PROGRAM@ for bash, made from its own description.
_PROGRAM@() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= i
  COMPREPLY=()
  [[ $cur == = ]] && cur=
  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${COMP_WORDS[i]}" in
PATHS@
PASSED@
    esac
  done
  case "$at $prev" in
VALUES@
  esac
  if [[ $cur == -* ]]; then
    case "$at" in
FLAGS@
    esac
    return
  fi
  case "$at" in
ARGUMENTS@
  esac
}
complete -F _PROGRAM@ PROGRAM@
`

func bash(app *line.Command) string {
	var paths, passed, given, flags, arguments strings.Builder
	offer := func(v values) string {
		switch {
		case len(v.words) > 0:
			return `COMPREPLY=($(compgen -W "` + strings.Join(v.words, " ") + `" -- "$cur"))`
		case v.folders:
			return `compopt -o filenames; COMPREPLY=($(compgen -d -- "$cur"))`
		case v.files:
			return `compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))`
		case v.program:
			return `COMPREPLY=($(compgen -c -- "$cur"))`
		}
		return ":"
	}
	for _, c := range commandsOf(app) {
		if c.Path() != "" {
			before, last := parted(c.Path())
			fmt.Fprintf(&paths, "      %q) at=%q ;;\n", before+" "+last, c.Path())
		}
		names := flagNames(flagsOf(c))
		if c.Path() != "" {
			names += " " + flagNames(flagsOf(app))
		}
		fmt.Fprintf(&flags, "      %q) COMPREPLY=($(compgen -W %q -- \"$cur\")) ;;\n", c.Path(), strings.TrimSpace(names))
		for _, f := range flagsOf(c) {
			if f.IsSwitch() {
				continue
			}
			where := fmt.Sprintf("%q", c.Path()+" --"+f.Name)
			if c.Path() == "" {
				where = `*" --` + f.Name + `"` // of all commands
			}
			fmt.Fprintf(&given, "    %s) %s; return ;;\n", where, offer(valuesOf(f)))
		}
		takes := argumentValues(c)
		if takes.program {
			fmt.Fprintf(&passed, "      %q[!-]*) return ;;\n", c.Path()+" ")
		}
		fmt.Fprintf(&arguments, "    %q) %s ;;\n", c.Path(), offer(takes))
	}
	return filled(bashScript, map[string]string{"PROGRAM": app.Name, "PATHS": clipped(&paths), "PASSED": clipped(&passed),
		"VALUES": clipped(&given), "FLAGS": clipped(&flags), "ARGUMENTS": clipped(&arguments)})
}

// clipped is what was written, without its last line break.
func clipped(b *strings.Builder) string { return strings.TrimSuffix(b.String(), "\n") }

// parted are the words of a command before its last one, and that.
func parted(words string) (before, last string) {
	if i := strings.LastIndexByte(words, ' '); i >= 0 {
		return words[:i], words[i+1:]
	}
	return "", words
}

func flagNames(flags []*line.Parameter) string {
	var names []string
	for _, f := range flags {
		names = append(names, "--"+f.Name)
	}
	return strings.Join(names, " ")
}

// argumentValues is what may follow a command that is no flag: another word of it, or its first argument.
func argumentValues(c *line.Command) values {
	if children := namesOf(c); len(children) > 0 {
		return values{words: children}
	}
	if len(c.Arguments()) == 0 {
		return values{}
	}
	return valuesOf(c.Arguments()[0])
}
