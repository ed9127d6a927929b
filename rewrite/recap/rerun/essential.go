package rerun

import (
	"slices"
	"strings"
)

// shows are options, by program, with which it does the same: they say how that is shown, or how long to wait for it.
var shows = map[string][]string{
	"kubectl":          {"--timeout", "--watch"},
	"helm":             {"--timeout"},
	"terraform":        {"-no-color", "-compact-warnings", "-input=false", "-auto-approve"},
	"systemctl":        {"--no-pager", "-l", "--full"},
	"ansible-playbook": {"--diff", "-v", "-vv", "-vvv"},
	"docker":           {"--progress=plain"},
}

// Essential are the words of a call without those that change nothing of what it does.
func Essential(words []string) []string {
	if len(words) == 0 || len(words) > mostWords || shows[words[0]] == nil {
		return words
	}
	options, list := shows[words[0]], words[:1:1]
	for k := 1; k < len(words); k++ {
		name, _, hasValue := strings.Cut(words[k], "=")
		switch {
		case slices.Contains(options, words[k]) && words[k] == "--timeout": // its value is the next word
			k++
		case slices.Contains(options, words[k]), hasValue && slices.Contains(options, name):
		default:
			list = append(list, words[k])
		}
	}
	return list
}

// RunsAnywhere reports whether a call does the same in each folder: it acts on a cluster or another machine, and is
// given no file of this one.
func RunsAnywhere(words []string) bool {
	if len(words) < 2 || len(words) > mostWords {
		return false
	}
	switch words[0] {
	case "kubectl", "systemctl", "ping", "dig":
		return !slices.ContainsFunc(words, func(w string) bool {
			name, _, _ := strings.Cut(w, "=")
			return strings.HasPrefix(w, ".") || strings.HasPrefix(w, "-f") || strings.HasPrefix(w, "-k") ||
				slices.Contains([]string{"--filename", "--kustomize", "--kubeconfig", "--patch-file", "cp"}, name) ||
				strings.HasPrefix(name, "--from-")
		})
	case "ssh":
		return !slices.Contains(words, "-F") && !slices.Contains(words, "-i")
	}
	return false
}
