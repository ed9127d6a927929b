package shell

import (
	"slices"
	"strings"
)

// reporters are commands that tell how things stand and change nothing, whatever they are given.
var reporters = []string{
	"dig", "nslookup", "host", "ping", "ping6", "traceroute", "tracepath", "mtr", "ss", "netstat", "free", "uptime", "top",
	"vmstat", "iostat", "lsblk", "lscpu", "nproc", "who", "w", "last", "getent", "pgrep",
}

// verbs are the first words behind a program by which it tells how things stand: a line for each program that has
// others.
var verbs = map[string][]string{
	"kubectl": {"get", "describe", "logs", "top", "events", "explain", "version", "api-resources", "cluster-info",
		"rollout status", "rollout history", "config view", "config current-context", "config get-contexts", "auth can-i"},
	"helm": {"list", "ls", "status", "history", "get", "show", "search", "version"},
	"docker": {"ps", "logs", "inspect", "images", "version", "info", "stats", "top", "port", "history", "container ls",
		"container logs", "container inspect", "image ls", "image inspect", "volume ls", "volume inspect", "network ls",
		"network inspect", "system df", "compose ps", "compose logs", "compose images", "compose top", "compose ls"},
	"docker-compose": {"ps", "logs", "images", "top"},
	"terraform": {"show", "output", "validate", "version", "providers", "state list", "state show", "workspace list",
		"workspace show"},
	"systemctl": {"status", "show", "list-units", "list-timers", "list-unit-files", "list-dependencies", "is-active",
		"is-enabled", "is-failed", "cat"},
	"ip": {"addr", "a", "route", "r", "link", "neigh"},
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
	name := list[0].text[strings.LastIndexByte(list[0].text, '/')+1:]
	switch name {
	case "ssh":
		inner := elsewhere(list)
		return len(inner) > 0 && (isReport(inner) || showsOnly(inner))
	case "journalctl":
		return !slices.ContainsFunc(list, func(w token) bool {
			return strings.HasPrefix(w.text, "--vacuum") || w.text == "--rotate" || w.text == "--flush"
		})
	case "curl":
		return isFetch(list[1:])
	case "psql", "mysql", "mariadb":
		return isQuery(list[1:])
	case "aws", "gcloud", "az":
		return isCloudReport(wordsOf(list[1:]))
	case "oc", "k":
		name = "kubectl"
	case "podman":
		name = "docker"
	case "tofu":
		name = "terraform"
	}
	words := wordsOf(list[1:])
	if name == "ip" {
		changes := func(w string) bool { return slices.Contains([]string{"add", "del", "delete", "set", "flush"}, w) }
		return len(words) > 0 && slices.Contains(verbs[name], words[0]) && !slices.ContainsFunc(words, changes)
	}
	isVerb := func(verb string) bool {
		first, second, isTwo := strings.Cut(verb, " ")
		return len(words) > 0 && words[0] == first && (!isTwo || len(words) > 1 && words[1] == second)
	}
	return slices.Contains(reporters, name) || slices.ContainsFunc(verbs[name], isVerb)
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

// isCloudReport reports whether the first word of a cloud's command that says what to do only asks for an answer.
func isCloudReport(words []string) bool {
	for _, w := range words {
		verb, _, _ := strings.Cut(w, "-")
		switch verb {
		case "describe", "list", "show", "ls", "lookup", "filter", "head":
			return true
		case "get":
			return w != "get-object" && w != "get-credentials"
		case "create", "delete", "update", "put", "set", "add", "remove", "start", "stop", "reboot", "terminate", "run",
			"deploy", "ssh", "scp", "cp", "mv", "rm", "sync", "modify", "attach", "detach", "restart", "deallocate",
			"reset", "resize":
			return false
		}
	}
	return false
}

// isFetch reports whether curl only asks for something and shows it.
func isFetch(args []token) bool {
	for i := 0; i < len(args); i++ {
		w := args[i].text
		switch {
		case w == "-X" || w == "--request":
			if i++; i == len(args) || args[i].text != "GET" && args[i].text != "HEAD" {
				return false
			}
		case w == "-H" || w == "-u" || w == "-A" || w == "-w" || w == "-m":
			i++
		case strings.HasPrefix(w, "--"):
			name, _, _ := strings.Cut(w[2:], "=")
			switch name {
			case "data", "data-raw", "data-binary", "data-urlencode", "json", "form", "upload-file", "output", "remote-name", "config":
				return false
			}
		case strings.HasPrefix(w, "-") && strings.ContainsAny(w, "dFTOoKX"):
			return false
		}
	}
	return len(args) > 0
}

// plainFunctions are functions of a database that change nothing, whatever they are given.
var plainFunctions = []string{
	"count", "sum", "min", "max", "avg", "left", "lower", "upper", "length", "coalesce", "now", "round", "pg_size_pretty",
	"pg_database_size", "pg_total_relation_size", "in", "and", "or", "where", "",
}

// isQuery reports whether a client of a database is given statements that only ask.
func isQuery(args []token) bool {
	isGiven := false
	for i, w := range args {
		switch o := w.text; {
		case o == "-f", strings.HasPrefix(o, "--file"), strings.HasPrefix(o, "--init-command"):
			return false
		case o == "--command", o == "--execute",
			len(o) > 1 && o[0] == '-' && o[1] != '-' && strings.IndexByte("ce", o[len(o)-1]) >= 0:
			if i+1 == len(args) || !onlyAsks(args[i+1].text) {
				return false
			}
			isGiven = true
		case strings.HasPrefix(o, "--command="), strings.HasPrefix(o, "--execute="):
			return false
		}
	}
	return isGiven
}

// onlyAsks reports whether all statements of a text change nothing.
func onlyAsks(text string) bool {
	for statement := range strings.SplitSeq(strings.ToLower(text), ";") {
		words := strings.Fields(statement)
		if len(words) > 0 && (!slices.Contains([]string{"select", "show", "describe", "desc"}, words[0]) ||
			slices.Contains(words, "into") || callsOther(statement)) {
			return false
		}
	}
	return true
}

// callsOther reports whether a statement calls a function that may change something.
func callsOther(statement string) bool {
	for before, rest, ok := strings.Cut(statement, "("); ok; before, rest, ok = strings.Cut(rest, "(") {
		isOther := func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') }
		start := strings.LastIndexFunc(before, isOther)
		if !slices.Contains(plainFunctions, before[start+1:]) {
			return true
		}
	}
	return false
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
		if len(w) == 2 && strings.IndexByte(withValue, w[1]) >= 0 {
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
