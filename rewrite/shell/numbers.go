package shell

import (
	"slices"
	"strings"
)

// showsNumbers reports whether a command shows the lines of a file with the numbers that they have in it. through says
// that it shows lines of what it is given, which have those numbers.
func showsNumbers(list []token, through bool) bool {
	if len(list) == 0 || slices.ContainsFunc(list, func(w token) bool { return !w.sure }) {
		return false
	}
	args := list[1:]
	switch name := list[0].text[strings.LastIndexByte(list[0].text, '/')+1:]; {
	case name == "cat" && !through:
		return len(args) == 2 && slices.ContainsFunc(args, func(w token) bool { return w.text == "-n" })
	case name == "nl" && !through:
		return numbersAll(args)
	case (name == "head" || name == "tail") && through:
		rest, given := operands(args, "nc", "")
		return len(rest) == 0 && !given.has('c')
	case name == "sed" && through:
		return len(args) == 2 && args[0].text == "-n" && strings.Trim(args[1].text, "0123456789,$;p ") == ""
	}
	return false
}

// numbersAll reports whether nl, given these words, numbers all lines of one file as they stand in it.
func numbersAll(args []token) bool {
	all := false
	for _, w := range args {
		switch how := strings.HasPrefix(w.text, "-w") || strings.HasPrefix(w.text, "-s"); {
		case w.text == "-ba":
			all = true
		case !how && strings.HasPrefix(w.text, "-"):
			return false
		}
	}
	nl, _ := programNamed("nl")
	rest, _ := operands(args, nl.values, "")
	return all && len(rest) == 1
}
