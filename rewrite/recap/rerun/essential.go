package rerun

import (
	"slices"
	"strings"
)

// byProgram is a table of words, with the program that they are for.
type byProgram []struct {
	program string
	words   []string
}

// of are the words for a program; nil if it has none.
func (t byProgram) of(program string) []string {
	for i := range t {
		if t[i].program == program {
			return t[i].words
		}
	}
	return nil
}

// shows are options, by program, with which it does the same: they say how that is shown, or how long to wait for it.
var shows = byProgram{
	{"kubectl", []string{"--timeout", "--watch"}},
	{"helm", []string{"--timeout"}},
	{"terraform", []string{"-no-color", "-compact-warnings", "-input=false", "-auto-approve"}},
	{"systemctl", []string{"--no-pager", "-l", "--full"}},
	{"ansible-playbook", []string{"--diff", "-v", "-vv", "-vvv"}},
	{"docker", []string{"--progress=plain"}},
}

// quieter are options, by program, with which it does what it does without them, and shows more or less of that, or
// goes on where it would stop: either succeeds where the other does.
var quieter = byProgram{
	{"ruby", []string{"--verbose"}},
	{"ctest", []string{"--output-on-failure", "-V", "-VV", "--verbose"}},
	{"ninja", []string{"-v", "--verbose", "--quiet"}},
	{"make", []string{"-k", "--keep-going", "-s", "--silent", "--no-print-directory"}},
	{"cargo", []string{"-q", "--quiet", "-v", "--verbose", "--no-fail-fast"}},
	{"mvn", []string{"-q", "-B", "-e", "-X", "-ntp", "--no-transfer-progress", "--batch-mode"}},
	{"gradle", quietGradle}, {"./gradlew", quietGradle},
}

var quietGradle = []string{"-q", "--info", "--stacktrace", "--no-daemon", "--rerun-tasks", "--continue", "--console=plain",
	"--no-build-cache"}

// Bare are the words of a call without those that change nothing of whether it succeeds.
func Bare(words []string) []string {
	if len(words) == 0 || len(words) > mostWords {
		return words
	}
	words = withoutEditor(words)
	options := quieter.of(words[0])
	if options == nil || slices.Contains(words, "--") {
		return words
	}
	return slices.DeleteFunc(withoutJobs(words), func(w string) bool { return slices.Contains(options, w) })
}

// withoutJobs are the words of a call without how much of it runs at once, where that changes nothing else.
func withoutJobs(words []string) (list []string) {
	hasJobs := slices.Contains([]string{"make", "ninja", "ctest", "cargo"}, words[0])
	for k := 0; k < len(words); k++ {
		number, is := strings.CutPrefix(words[k], "-j")
		switch {
		case !hasJobs || !is || strings.Trim(number, digits) != "":
			list = append(list, words[k])
		case number == "" && k+1 < len(words) && strings.Trim(words[k+1], digits) == "":
			k++
		}
	}
	return list
}

// Essential are the words of a call without those that change nothing of what it does. What a container or a pod is
// given to run has its own options.
func Essential(words []string) []string {
	if len(words) == 0 || len(words) > mostWords {
		return words
	}
	options, list := shows.of(words[0]), words[:1:1]
	if options == nil || slices.ContainsFunc(words, handsOn) {
		return words
	}
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

// handsOn reports whether words behind this one may be those of another program.
func handsOn(word string) bool {
	return word == "--" || word == "exec" || word == "run" || word == "debug"
}

// anywhere are the verbs of programs that act on a cluster or another machine, without those that are given files.
var anywhere = byProgram{
	{"kubectl", []string{"get", "describe", "logs", "top", "events", "rollout", "delete", "scale", "autoscale", "wait",
		"annotate", "label", "taint", "cordon", "uncordon", "drain", "exec", "set", "patch", "explain", "version", "auth"}},
	{"systemctl", []string{"status", "show", "start", "stop", "restart", "reload", "try-restart", "reload-or-restart",
		"is-active", "is-enabled", "is-failed", "daemon-reload", "reset-failed", "kill", "list-units"}},
}

// RunsAnywhere reports whether a call does the same in each folder: it acts on a cluster or another machine, and is
// given no file of this one, nor by what was set before.
func RunsAnywhere(words []string, settings ...[]string) bool {
	if len(words) < 2 || len(words) > mostWords || slices.ContainsFunc(words, readsHere) ||
		slices.ContainsFunc(settings, func(set []string) bool { return slices.ContainsFunc(set, names) }) {
		return false
	}
	switch words[0] {
	case "kubectl", "systemctl":
		verbs := anywhere.of(words[0])
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(verbs, w) }) &&
			!slices.ContainsFunc(words, func(w string) bool {
				name, _, _ := strings.Cut(w, "=")
				return slices.Contains(acting, w) || strings.HasPrefix(name, "--from-") || slices.Contains(files, name) ||
					len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(name, "fks")
			})
	case "ping", "dig":
		return !slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "-f") || strings.HasPrefix(w, "-k")
		})
	case "ssh":
		return !slices.ContainsFunc(words, func(w string) bool {
			low := strings.ToLower(w)
			return strings.HasPrefix(w, "-F") || strings.HasPrefix(w, "-i") || strings.Contains(low, "file") ||
				strings.Contains(low, "command")
		})
	}
	return false
}

// names reports whether what was set before may name another cluster in another folder.
func names(setting string) bool {
	return strings.HasPrefix(setting, "source ") || strings.HasPrefix(setting, ". ") || strings.Contains(setting, "KUBECONFIG") ||
		strings.ContainsAny(setting, "$`")
}

// files are options of such programs that name files.
var files = []string{"--filename", "--kustomize", "--kubeconfig", "--patch-file", "--output-directory", "--cert", "--key",
	"--client-certificate", "--client-key", "--certificate-authority", "--template", "--root"}

// acting are verbs of which some read files.
var acting = []string{"cp", "apply", "create", "replace", "diff", "kustomize", "run", "edit", "debug", "reconcile", "dump"}

// readsHere reports whether a word is a file of the folder, or what this shell puts in its place.
func readsHere(word string) bool {
	return strings.HasPrefix(word, ".") || strings.ContainsAny(word, "$`<")
}
