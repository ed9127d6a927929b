package shell

import "strings"

// options are the letters of options that a command was given.
type options uint64

func (o options) has(letter byte) bool { return letter >= 'A' && o>>(letter-'A')&1 == 1 }

func (o *options) add(letter byte) {
	if letter >= 'A' && letter <= 'z' {
		*o |= 1 << (letter - 'A')
	}
}

// operands returns the words that are no options. The letters of values take the rest of their word, or the next one;
// those of rests take the rest of their word only.
func operands(list []token, values, rests string) (rest []token, given options) {
	for i := 0; i < len(list); i++ {
		w := list[i].text
		switch {
		case w == "--":
			return append(rest, list[i+1:]...), given
		case len(w) < 2 || w[0] != '-':
			rest = append(rest, list[i])
		case w[1] == '-':
			given.add(longOption(w))
		default:
			i += given.cluster(w[1:], values, rests)
		}
	}
	return rest, given
}

// cluster takes the letters of a word, and says how many words more belong to them.
func (o *options) cluster(letters, values, rests string) int {
	for k := range len(letters) {
		o.add(letters[k])
		if strings.IndexByte(rests, letters[k]) >= 0 {
			return 0
		}
		if strings.IndexByte(values, letters[k]) >= 0 {
			if k == len(letters)-1 {
				return 1
			}
			return 0
		}
	}
	return 0
}

// longOption returns the letter of a long option that makes a difference here.
func longOption(w string) byte {
	name, _, _ := strings.Cut(w[2:], "=")
	switch name {
	case "in-place":
		return 'i'
	case "expression":
		return 'e'
	case "file":
		return 'f'
	case "quiet", "silent":
		return 'q'
	case "count":
		return 'c'
	case "files-with-matches", "files-without-match":
		return 'l'
	case "target-directory":
		return 't'
	}
	return 0
}

// gives reports whether an option is among the words.
func gives(list []token, option string) bool {
	for _, w := range list {
		if w.text == option {
			return true
		}
	}
	return false
}

// windowsFiles returns the files among the words of a command of PowerShell.
func windowsFiles(args []token) (rest []token) {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i].text, "-") {
			rest = append(rest, args[i])
			continue
		}
		switch strings.ToLower(args[i].text) {
		case "-path", "-literalpath", "-filepath", "-raw", "-wait", "-force", "-recurse", "-nonewline", "-append", "-passthru":
		default:
			i++
		}
	}
	return rest
}
