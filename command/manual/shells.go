package manual

import (
	"fmt"
	"strings"

	"epitome/command/line"
)

// zshScript has a function for each command; _arguments goes on to the next one by the word that was given.
const zshScript = `#compdef PROGRAM@
# Completions of PROGRAM@ for zsh, made from its own description.
FUNCTIONS@
if [[ $funcstack[1] == _PROGRAM@ ]]; then
  _PROGRAM@ "$@"
else
  compdef _PROGRAM@ PROGRAM@
fi
`

func zsh(app *line.Command) string {
	var functions strings.Builder
	for _, c := range commandsOf(app) {
		fmt.Fprintf(&functions, "%s() {\n", zshName(app.Name, c.Path()))
		specs := zshFlags(flagsOf(c))
		if c.Path() != "" {
			specs = append(specs, zshFlags(flagsOf(app))...)
		}
		if len(namesOf(c)) > 0 {
			zshChildren(&functions, app.Name, c, specs)
		} else {
			fmt.Fprintf(&functions, "  _arguments -s %s\n", strings.Join(append(specs, zshArguments(c)...), " \\\n    "))
		}
		functions.WriteString("}\n")
	}
	return filled(zshScript, map[string]string{"PROGRAM": app.Name, "FUNCTIONS": clipped(&functions)})
}

// zshChildren writes how a command goes on.
func zshChildren(b *strings.Builder, program string, c *line.Command, specs []string) {
	specs = append(specs, "'1: :->command'", "'*::argument:->rest'")
	fmt.Fprintf(b, "  local state line\n  typeset -A opt_args\n  _arguments -C -s %s\n", strings.Join(specs, " \\\n    "))
	b.WriteString("  case $state in\n  command)\n    local -a known=(\n")
	for _, child := range shown(c) {
		fmt.Fprintf(b, "      %s\n", quoted(child.Name+":"+zshSafe(firstSentence(child.Help))))
	}
	b.WriteString("    )\n    _describe command known ;;\n  rest)\n    case $line[1] in\n")
	for _, name := range namesOf(c) {
		fmt.Fprintf(b, "    %s) %s ;;\n", name, zshName(program, strings.TrimSpace(c.Path()+" "+name)))
	}
	b.WriteString("    esac ;;\n  esac\n")
}

// zshName is the name of the function for a command.
func zshName(program, words string) string {
	return strings.TrimSuffix("_"+program+"_"+strings.NewReplacer(" ", "_", "-", "_").Replace(words), "_")
}

// zshFlags are flags as _arguments reads them.
func zshFlags(flags []*line.Parameter) (specs []string) {
	for _, f := range flags {
		spec := "--" + f.Name
		if !f.IsSwitch() {
			spec += "="
		}
		spec += "[" + zshSafe(firstSentence(f.Help())) + "]"
		if !f.IsSwitch() {
			spec += ":" + zshSafe(f.Example()) + ":" + zshAction(valuesOf(f))
		}
		specs = append(specs, quoted(spec))
	}
	return specs
}

// zshArguments are a command's arguments as _arguments reads them.
func zshArguments(c *line.Command) (specs []string) {
	for _, a := range c.Arguments() {
		takes := valuesOf(a)
		switch {
		case takes.program:
			specs = append(specs, "'*::command:_normal'")
		case a.IsMany():
			specs = append(specs, quoted("*:"+a.Name+":"+zshAction(takes)))
		default:
			specs = append(specs, quoted(":"+a.Name+":"+zshAction(takes)))
		}
	}
	return specs
}

func zshAction(v values) string {
	switch {
	case len(v.words) > 0:
		return "(" + strings.Join(v.words, " ") + ")"
	case v.folders:
		return "_files -/"
	case v.files:
		return "_files"
	}
	return " "
}

// zshSafe keeps words from being taken for a part of what stands around them.
func zshSafe(s string) string {
	return strings.NewReplacer("[", "(", "]", ")", ":", ",").Replace(s)
}

// quoted is text as sh, zsh and fish read it in single quotes, without the quotes and backslashes of its own.
func quoted(s string) string {
	return "'" + strings.NewReplacer("'", "", `\`, "").Replace(s) + "'"
}

func fish(app *line.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Completions of %s for fish, made from its own description.\ncomplete -c %s -f\n", app.Name, app.Name)
	for _, c := range commandsOf(app) {
		where := fishCondition(c)
		for _, child := range shown(c) {
			fmt.Fprintf(&b, "complete -c %s -n %s -a %s -d %s\n", app.Name, quoted(where), child.Name, quoted(firstSentence(child.Help)))
		}
		if takes := argumentValues(c); isLeaf(c) && fishAction(takes) != "" {
			fmt.Fprintf(&b, "complete -c %s -n %s%s\n", app.Name, quoted(where), fishAction(takes))
		}
		for _, f := range flagsOf(c) {
			condition := " -n " + quoted(where)
			if c.Path() == "" {
				condition = "" // of all commands
			}
			fmt.Fprintf(&b, "complete -c %s%s -l %s%s -d %s\n", app.Name, condition, f.Name, fishValue(f), quoted(firstSentence(f.Help())))
		}
	}
	return b.String()
}

// fishCondition holds where the words of a command were given, and none by which it goes on.
func fishCondition(c *line.Command) string {
	var conditions []string
	for word := range strings.FieldsSeq(c.Path()) {
		conditions = append(conditions, "__fish_seen_subcommand_from "+word)
	}
	if children := namesOf(c); len(children) > 0 {
		conditions = append(conditions, "not __fish_seen_subcommand_from "+strings.Join(children, " "))
	}
	return strings.Join(conditions, "; and ")
}

// fishValue is what stands behind a flag.
func fishValue(f *line.Parameter) string {
	if f.IsSwitch() {
		return ""
	}
	action := fishAction(valuesOf(f))
	if strings.HasPrefix(action, " -F") {
		return " -r" + action
	}
	return " -x" + action
}

func fishAction(v values) string {
	switch {
	case len(v.words) > 0:
		return " -a " + quoted(strings.Join(v.words, " "))
	case v.folders:
		return " -a '(__fish_complete_directories)'"
	case v.files:
		return " -F"
	case v.program:
		return " -a '(__fish_complete_subcommand)'"
	}
	return ""
}
