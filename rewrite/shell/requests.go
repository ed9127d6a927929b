package shell

import (
	"slices"
	"strings"
)

// isCloudReport reports whether a cloud's command only asks for an answer. words are its first ones.
func isCloudReport(name string, words []string) bool {
	if len(words) < 2 {
		return false
	}
	switch name {
	case "aws":
		return isAnswer(words[1]) || words[0] == "s3" && words[1] == "ls"
	case "az":
		return isAnswer(words[len(words)-1])
	}
	for _, w := range words { // of gcloud, groups of things stand before what is done with them
		verb, _, _ := strings.Cut(w, "-")
		switch {
		case w == "describe", w == "list", w == "get-iam-policy", w == "get-value":
			return true
		case slices.Contains([]string{"add", "remove", "set", "update", "delete", "reset"}, verb),
			!strings.HasSuffix(w, "s") && !slices.Contains(groups, w):
			return false
		}
	}
	return false
}

// groups are those of gcloud whose names do not end as those of many things do.
var groups = []string{"compute", "container", "run", "sql", "pubsub", "logging", "iam", "storage", "config", "app", "beta",
	"alpha", "scheduler", "monitoring", "managed", "docker", "auth", "billing"}

// isAnswer reports whether a cloud's verb only asks, and puts its answer in no file.
func isAnswer(verb string) bool {
	first, rest, _ := strings.Cut(verb, "-")
	switch first {
	case "describe", "list", "show", "lookup", "filter", "head":
		return true
	case "get":
		return !slices.Contains([]string{"object", "object-torrent", "credentials", "thing-shadow", "job-output", "export", "sdk",
			"configuration", "latest-configuration", "package-version-asset", "media", "clip", "raw-message-content",
			"work-unit-results"}, rest)
	}
	return false
}

// request is how the options of a program are read that sends requests: all that are not known may do anything.
type request struct {
	flags, values         string // single letters, without a value and with one
	longFlags, longValues []string
	allows                func(option, value string) bool // what a value may be
}

// isPlainRequest reports whether a program only asks a server, and shows what that answers.
func isPlainRequest(name string, args []token) bool {
	isGiven := false
	statement := func(text string) bool {
		isGiven = true
		return onlyAsks(text)
	}
	switch name {
	case "curl":
		r := request{
			flags: "sSvifkLIgN46#0q", values: "HuAwmebxrEXo",
			longFlags: []string{"silent", "show-error", "verbose", "include", "head", "location", "fail", "fail-with-body",
				"compressed", "insecure", "http1.1", "http2", "ipv4", "ipv6", "no-progress-meter", "no-buffer", "globoff",
				"retry-connrefused", "retry-all-errors"},
			longValues: []string{"header", "user", "user-agent", "write-out", "max-time", "connect-timeout", "retry",
				"retry-delay", "retry-max-time", "resolve", "connect-to", "referer", "cookie", "cacert", "cert", "key", "proxy",
				"max-redirs", "url", "range", "unix-socket", "request", "output"},
			allows: allowsFetch,
		}
		return len(args) > 0 && r.fits(args)
	case "psql":
		r := request{
			flags: "AtxqXnabEeH1zls0wW", values: "hpUdFPRTvc",
			longFlags:  []string{"no-psqlrc", "tuples-only", "no-align", "expanded", "quiet", "csv", "html", "no-password"},
			longValues: []string{"host", "port", "username", "dbname", "pset", "variable", "set", "command"},
			allows:     func(o, v string) bool { return o != "c" && o != "command" || statement(v) },
		}
		return r.fits(args) && isGiven
	}
	r := request{
		flags: "tNBsrHXvCA", values: "huPDSe",
		longFlags: []string{"batch", "table", "skip-column-names", "silent", "raw", "vertical", "no-auto-rehash", "compress"},
		longValues: []string{"host", "port", "user", "database", "socket", "execute", "default-character-set", "protocol",
			"defaults-file", "defaults-extra-file", "ssl-mode", "connect-timeout"},
		allows: func(o, v string) bool { return o != "e" && o != "execute" || statement(v) },
	}
	secret := func(w token) bool { return strings.HasPrefix(w.text, "-p") || strings.HasPrefix(w.text, "--password") }
	return r.fits(slices.DeleteFunc(slices.Clone(args), secret)) && isGiven
}

// allowsFetch reports whether an option of curl with this value sends nothing and writes no file.
func allowsFetch(option, value string) bool {
	switch option {
	case "X", "request":
		return value == "GET" || value == "HEAD"
	case "o", "output":
		return value == "/dev/null"
	case "w", "write-out":
		return !strings.Contains(value, "%output")
	}
	return true
}

// fits reports whether all options are known, and all values allowed.
func (r *request) fits(args []token) bool {
	for i := 0; i < len(args); i++ {
		w := args[i].text
		if len(w) < 2 || w[0] != '-' {
			continue
		}
		option, value, needs, ok := r.option(w)
		if needs {
			if i++; i == len(args) {
				return false
			}
			value = args[i].text
		}
		if !ok || option != "" && !r.allows(option, value) {
			return false
		}
	}
	return true
}

// option reads a word of options: the one that has a value, and whether that is the next word.
func (r *request) option(w string) (option, value string, needs, ok bool) {
	if name, is := strings.CutPrefix(w, "--"); is {
		name, value, has := strings.Cut(name, "=")
		if slices.Contains(r.longFlags, name) {
			return "", "", false, !has
		}
		return name, value, !has, slices.Contains(r.longValues, name)
	}
	for k := 1; k < len(w); k++ {
		switch {
		case strings.IndexByte(r.flags, w[k]) >= 0:
		case strings.IndexByte(r.values, w[k]) >= 0:
			return w[k : k+1], w[k+1:], k+1 == len(w), true
		default:
			return "", "", false, false
		}
	}
	return "", "", false, true
}

// plainFunctions are functions of a database that change nothing, whatever they are given, and words that stand before
// an opening bracket.
var plainFunctions = []string{
	"count", "sum", "min", "max", "avg", "left", "lower", "upper", "length", "coalesce", "now", "round", "pg_size_pretty",
	"pg_database_size", "pg_total_relation_size", "pg_relation_size", "date_trunc", "extract", "to_char", "substring", "age",
	"in", "and", "or", "where", "from", "select", "join", "on", "not", "exists", "any", "distinct", "using", "by", "when", "",
}

// onlyAsks reports whether all statements of a text change nothing.
func onlyAsks(text string) bool {
	text = strings.ToLower(text)
	// either may hold a command
	if strings.Contains(text, "/*") || strings.Contains(strings.ReplaceAll(text, `\g`, ""), `\`) {
		return false
	}
	for statement := range strings.SplitSeq(text, ";") {
		words := strings.Fields(statement)
		if len(words) > 0 && (!slices.Contains([]string{"select", "show", "describe", "desc"}, words[0]) ||
			words[0] != "select" && slices.Contains(words, "analyze") ||
			slices.Contains(words, "into") || callsOther(statement)) {
			return false
		}
	}
	return true
}

// callsOther reports whether a statement calls a function that may change something.
func callsOther(statement string) bool {
	for before, rest, ok := strings.Cut(statement, "("); ok; before, rest, ok = strings.Cut(rest, "(") {
		before = strings.TrimRight(before, " \t\r\n")
		isOther := func(c rune) bool {
			return c != '_' && c != '$' && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c < 0x80
		}
		start := strings.LastIndexFunc(before, isOther) + 1
		isQualified := start > 0 && strings.IndexByte("\"`].", before[start-1]) >= 0
		if isQualified || !slices.Contains(plainFunctions, before[start:]) {
			return true
		}
	}
	return false
}
