package shell

import (
	"path"
	"slices"
	"strings"
)

// reporters are commands that tell how things stand and change nothing, whatever they are given.
var reporters = []string{
	"dig", "nslookup", "host", "ping", "ping6", "traceroute", "tracepath", "mtr", "netstat", "free", "uptime", "top",
	"vmstat", "iostat", "lsblk", "lscpu", "nproc", "who", "w", "last", "getent", "pgrep",
}

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

// verbs are the first words behind a program by which it tells how things stand: a line for each program that has
// others.
var verbs = byProgram{
	{"kubectl", []string{"get", "describe", "logs", "top", "events", "explain", "version", "api-resources",
		"cluster-info", "rollout status", "rollout history", "config view", "config current-context", "config get-contexts",
		"auth can-i"}},
	{"helm", []string{"list", "ls", "status", "history", "get", "show", "search", "version"}},
	{"docker", []string{"ps", "logs", "inspect", "images", "version", "info", "stats", "top", "port", "history",
		"container ls", "container logs", "container inspect", "image ls", "image inspect", "volume ls", "volume inspect",
		"network ls", "network inspect", "system df", "compose ps", "compose logs", "compose images", "compose top",
		"compose ls"}},
	{"docker-compose", []string{"ps", "logs", "images", "top"}},
	{"terraform", []string{"show", "output", "validate", "version", "providers", "state list", "state show",
		"workspace list", "workspace show"}},
	{"systemctl", []string{"status", "show", "list-units", "list-timers", "list-unit-files", "list-dependencies",
		"is-active", "is-enabled", "is-failed", "cat"}},
	{"gh", []string{"pr view", "pr list", "pr diff", "pr status", "issue view", "issue list", "issue status", "run view",
		"run list", "workflow view", "workflow list", "release view", "release list", "repo view", "repo list", "label list"}},
	{"glab", []string{"mr view", "mr list", "mr diff", "issue view", "issue list", "ci list", "release view", "release list"}},
}

// acting are words right behind such a verb with which it does more.
var acting = []string{"dump", "lock", "mirror"}

// bare are options of such programs that may stand before the verb and have no value.
var bare = byProgram{
	{"kubectl", []string{"--insecure-skip-tls-verify"}},
	{"helm", []string{"--debug"}},
	{"docker", []string{"-D", "--debug"}},
	{"systemctl", []string{"--user", "--system", "--no-pager", "--no-legend", "--plain", "-l", "--full", "-q", "--quiet",
		"-a", "--all"}},
}

// valued are the options of such programs behind which a value stands.
var valued = []string{
	"-n", "--namespace", "--context", "--kube-context", "--kubeconfig", "--cluster", "-f", "--file", "-p", "--project-name",
	"-H", "--host", "--profile", "--region", "--output", "--project", "--subscription", "-M", "-o",
}

// isReport reports whether a command only tells how things stand.
func isReport(list []token) bool {
	if len(list) == 0 || slices.ContainsFunc(list, func(w token) bool { return !w.sure }) {
		return false
	}
	dir, name := path.Split(list[0].text)
	if dir != "" && dir != "/bin/" && !strings.HasPrefix(dir, "/usr/") { // a program of that name may be anything
		return false
	}
	switch name {
	case "ssh":
		inner := elsewhere(list)
		return len(inner) > 0 && (isReport(inner) || showsOnly(inner))
	case "journalctl":
		return !givesAny(list[1:], "--vac", "--rot", "--fl", "--syn", "--rel", "--sm", "--set", "--upd", "--cursor-f")
	case "ss":
		return !givesAny(list[1:], "-K", "--k")
	case "ip":
		return isAddressReport(list[1:])
	case "curl", "psql", "mysql", "mariadb":
		return isPlainRequest(name, list[1:])
	case "aws", "gcloud", "az":
		return isCloudReport(name, leadingWords(name, list[1:]))
	case "gh", "glab":
		if len(list) > 3 && (list[1].text == "-R" || list[1].text == "--repo") {
			list = list[2:]
		}
	case "oc", "k":
		name = "kubectl"
	case "podman":
		name = "docker"
	case "tofu":
		name = "terraform"
	}
	words := leadingWords(name, list[1:])
	isVerb := func(verb string) bool {
		first, second, isTwo := strings.Cut(verb, " ")
		return len(words) > 0 && words[0] == first && (!isTwo || len(words) > 1 && words[1] == second)
	}
	return slices.Contains(reporters, name) || slices.ContainsFunc(verbs.of(name), isVerb) &&
		(len(words) < 2 || !slices.Contains(acting, words[1]))
}

// givesAny reports whether one of the words begins as an option does.
func givesAny(list []token, options ...string) bool {
	return slices.ContainsFunc(list, func(w token) bool {
		return slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(w.text, o) })
	})
}

// wordsOf are words that are neither options nor their values.
func wordsOf(list []token) (words []string) {
	for i := 0; i < len(list); i++ {
		switch w := list[i].text; {
		case slices.Contains(valued, w):
			i++
		case !strings.HasPrefix(w, "-"):
			words = append(words, w)
		}
	}
	return words
}

// leadingWords are those words before the first option of which it is not known whether the next word is its value.
func leadingWords(name string, list []token) []string {
	n := 0
	for n < len(list) {
		w := list[n].text
		switch {
		case slices.Contains(valued, w):
			n += 2
			continue
		case strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && !slices.Contains(bare.of(name), w):
			return wordsOf(list[:n])
		}
		n++
	}
	return wordsOf(list)
}

// isAddressReport reports whether ip shows things: it knows each of its words by its first letters, too.
func isAddressReport(args []token) bool {
	shown := []string{"-4", "-6", "-br", "-brief", "-s", "-d", "-c", "-j", "-o", "-p"}
	for len(args) > 0 && slices.Contains(shown, args[0].text) {
		args = args[1:]
	}
	things := []string{"addr", "address", "a", "route", "r", "link", "l", "neigh", "rule"}
	if len(args) == 0 || !slices.Contains(things, args[0].text) {
		return false
	}
	return len(args) == 1 || slices.Contains([]string{"show", "list", "ls", "get"}, args[1].text)
}

// elsewhere are the words of the command that ssh runs, callers left out; none if they are not sure to be one simple
// command, or if that goes on elsewhere.
func elsewhere(list []token) []token {
	inner := withoutCallers(remote(list))
	if len(inner) > 0 && strings.HasSuffix(inner[0].text, "ssh") {
		return nil
	}
	return inner
}

// remote are the words that ssh hands on; none if a shell there may read more than one simple command in them.
func remote(list []token) []token {
	const withValue = "bcDEeFIiJLlmOopQRSWw"
	rest := list[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
		n, w := 1, rest[0].text
		if k := strings.IndexAny(w, withValue); k > 0 && k == len(w)-1 { // else its value stands right behind it
			n = min(2, len(rest))
		}
		rest = rest[n:]
	}
	if len(rest) < 2 {
		return nil
	}
	var words []token
	for _, w := range rest[1:] {
		if !w.sure || strings.ContainsAny(w.text, ";|&<>$()`\"'\\\n") {
			return nil
		}
		for part := range strings.FieldsSeq(w.text) {
			words = append(words, token{text: part, sure: true})
		}
	}
	return words
}

// showsOnly reports whether a command is known to show things and to change none.
func showsOnly(list []token) bool {
	known := programOf(list[0])
	switch known.job {
	case noFiles, showing:
		return known.looks && !acts(list)
	}
	return false
}
