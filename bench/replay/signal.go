package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/internal/lazyregexp"
)

// Which lines of a tool's output tell what went wrong, and which calls only read, is the measure's own list: nothing
// that is measured knows it.

// longestTelling is from how many bytes on a line is no line to anybody: a page or data without line ends.
const longestTelling = 1000

// tells reports whether a line of a tool's output tells what went wrong. line is as a terminal shows it.
func tells(line string) bool {
	if len(line) > longestTelling || len(line) < len("FAIL") || !mayTell(line) {
		return false
	}
	if passed().MatchString(line) {
		return false
	}
	if plainly().MatchString(line) {
		return true
	}
	if code().MatchString(line) || numbered().MatchString(line) {
		return false
	}
	return inPassing().MatchString(friends().ReplaceAllString(line, " "))
}

// mayTell reports whether a line has a word or sign that one of the patterns needs. Most lines have none, and the
// patterns take a hundred times as long.
func mayTell(line string) bool {
	small := strings.ToLower(line)
	return slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(small, hint) }) ||
		place().MatchString(line) || strings.HasPrefix(line, "E ")
}

// hints are those words and signs, in small letters.
var hints = []string{
	"err", "fail", "panic", "fatal", "exception", "traceback", "assert", "caused by", "goroutine", "segm", "dumped",
	"sigsegv", "signal", "expect", "receiv", "actual", "got", "want", "left", "right", "undefined", "***", "lifecycle",
	"conflict", "found", "no such", "denied", "refused", "reset", "exit", "return", "finish", "terminat", "complet",
	"non-zero", "enoent", "eacces", "eaddr", "etimed", "enotf", "eperm", "econn", "timed", "timeout", "memory", "oom",
	"crash", "imagepull", "critical", "severe", "emerg", "unauthorized", "forbidden", "bad ", "unavailable", "cannot",
	"could not", "unable", "not ok", "problem", "✗", "✕", "×", "✘", "❌", "✖", "●",
}

// place is where in a file something is, as compilers tell it.
var place = lazyregexp.New(`^\S+\.\w+:\d+:\d`)

// passed are lines that say that something went well, whatever its name.
var passed = lazyregexp.New(
	`^\s*(?:ok|PASS|--- PASS|=== RUN|=== PAUSE|=== CONT|--- SKIP|✓|✔|√|✅|☑)(?:\s|:|$)` +
		`|(?:\.\.\. ok|\s(?:PASSED|passed|✓|✅))(?:\s*[\[(][^\])]*[\])])?$`)

// plainly are lines that tell by how they begin, or by a form that nothing else has.
var plainly = lazyregexp.New(
	// tests
	`^\s*--- FAIL:` + `|^\s*FAIL(?:$|[\s:])` + `|^\s*(?:FAILED|ERROR)\s+\S+(?:::|\.\w+:)` + `|^\s*(?:✗|✕|×|✘|❌|✖)\s` +
		`|^\s*not ok \d` + `|^\s*● ` + `|\.\.\. (?:FAILED|FAIL|ERROR)$` + `|\sFAILED(?:\s*[\[(].*)?$` + `|^(?:FAIL|ERROR): \w+ \(` +
		`|^E\s{2,}\S` +
		`|^\s+\w+_test\.go:\d+: .*\b(?:[Ff]ail\w*|[Ee]rror|[Ee]xpected|[Uu]nexpected|should|want|got|not|missing|mismatch|invalid|panic)\b` +
		`|^test result: FAILED` +
		`|^\s*(?:Expected|Received|expected|received|actual|Actual|got|want|left|right)\s*:\s` +
		// exceptions
		`|^\s*Traceback \(most recent call last\)` + `|^panic: ` + `|^fatal error: ` + `|^\s*thread '[^']*'.* panicked at` +
		`|^\s*Exception in thread ` + `|^\s*Caused by: ` + `|^goroutine \d+ \[running` +
		`|^\s*(?:Uncaught |Unhandled )?(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception|Panic)(?: \[\w+\])?(?::\s|$)` +
		`|(?:^|\s)AssertionError` +
		`|^\s*[Aa]ssertion .*failed` +
		`|^Segmentation fault|core dumped\)?$` +
		`|SIGSEGV|signal: killed` +
		// compilers and linters
		`|^\s*(?:fatal |internal )?(?:error|Error|ERROR)(?:\[\w+\]|\s+\w*\d{3,})?\s*:\s*\S` +
		`|^\S+\.\w{1,6}:\d+(?::\d+)?:? +(?:-\s+)?(?:fatal )?(?:error|Error|ERROR)\b` +
		`|^\S+\.\w{1,6}\(\d+(?:,\d+)?\)\s*: (?:fatal )?error\b` + `|^(?:vet: )?\.{0,2}/?[\w./@+-]+\.\w{1,5}:\d+:\d+: \S` +
		`|^\s*\d+:\d+\s+error\s` +
		`|: undefined reference to ` +
		`|^\s*make(?:\[\d+\])?: \*\*\*` +
		`|^(?:npm|pnpm) (?:ERR!|error)` +
		`|^\s*ERR_\w+` + `|\bELIFECYCLE\b` + `|##\[error\]` + `|^\s*(?:\[ERROR\]|\[FATAL\]|\[error\]|\[fatal\])` + `|^e: (?:file:)?/?\S+\.kts?` +
		// programs
		`|^fatal: ` +
		`|^CONFLICT \(` +
		`|^(?:E|W)?\d{4} .*\] .*\berror\b` +
		`|^ERROR\b` +
		`|^FATAL\b` +
		`|^\s*Error(?:\s\w+)? (?:in|from|at|while|response|code)\b` +
		`|^(?:bash|sh|zsh|/bin/\w+|\S+\.sh): .*(?:command not found|[Nn]o such file|[Pp]ermission denied|syntax error|line \d+: )` +
		`|^\s*(?:<tool_use_error>|Command failed|Error executing|Failed to |failed to |Cannot |cannot |Could not |could not |Unable to |unable to )`)

// inPassing are lines that tell by what stands somewhere in them. False friends and code were taken out before.
var inPassing = lazyregexp.New(
	`\b(?:ERROR|FATAL|SEVERE|PANIC|EMERG)\b` + `|\d.*\sCRITICAL\b` + `|\blevel"?[=:] ?"?(?:error|fatal|panic|critical)\b` +
		`|\b[1-9]\d* (?:tests? |specs? |examples? |checks? |suites? )?(?:failed|failing|failures?|errors?|problems?)\b` +
		`|\b(?:failed|failures?|errors?)["']?\s*[:=]\s*[1-9]\d*\b` +
		`|\b(?:exit(?:ed)?|return(?:ed)?|finished|terminated|completed)(?: with)?(?: an?)?(?: non-zero)? ?(?:exit )?(?:code|status)"?\s*[:=]?\s*-?[1-9]\d*` +
		`|\bnon-zero (?:exit|code|status)` +
		`|(?:command not found|[Nn]o such file or directory|[Pp]ermission denied|[Cc]onnection (?:refused|reset))` +
		`|\b(?:ECONNREFUSED|ECONNRESET|ENOENT|EACCES|EADDRINUSE|ETIMEDOUT|ENOTFOUND|EPERM)\b(?:[:,"'\])]|$)` +
		`|\b(?:timed out|[Tt]imeout (?:of \S+ )?exceeded|[Oo]ut of memory|OOMKilled|CrashLoopBackOff|ImagePullBackOff)\b` +
		`|\b(?:HTTP(?:/\d(?:\.\d)?)? |status(?: code)?:? |code )?(?:4\d\d|5\d\d) (?:Bad Request|Unauthorized|Forbidden|Not Found|Conflict|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)\b` +
		`|^[^.!?]{0,60}\b(?:[Ee]rror|[Ee]xception|[Ff]ailed|[Ff]ailure|panic): \S` +
		`|^\S{1,60}(?:\s\S+){0,5} (?:failed|FAILED|crashed)[.:]?$`)

// friends are words that look as if something went wrong: none of it, and names.
var friends = lazyregexp.New(
	`(?i)\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|failed|failing|problems?|exceptions?|timed out)\b` +
		`|(?i)\b(?:errors?|failures?|failed|failing|problems?)["']?\s*[:=]\s*["']?(?:0|none|null|nil|false|\[\]|\{\}|""|'')(?:\b|$)?` +
		`|(?i)\berror[- ](?:handling|handler|messages?|codes?|paths?|cases?|types?|boundary|states?|recovery|reporting|log|page)\b` +
		`|(?i)[\w./-]*(?:error|fail|panic|exception)[\w-]*\.[a-z]{1,5}\b` +
		`|(?i)[\w-]+[_/-](?:errors?|fail(?:ed|ure)?s?)\b|\b(?:errors?|fail(?:ed|ure)?s?)[_/-][\w-]+`)

// code are lines that deal with what may go wrong in a program, and do not say that it did.
var code = lazyregexp.New(
	`\b(?:fmt\.Errorf|errors\.(?:New|Is|As|Wrap)|console\.(?:error|log|warn)|log(?:ger|ging|rus)?\.\w+|t\.(?:Error|Fatal|Log)f?)\(` +
		`|\b(?:throw new|raise [A-Z]|except [A-Z(]|catch ?\(|if err\b|return (?:nil, )?err\b|new Error\(|panic\(|Err\(|Result<)` +
		`|^\s*(?:[-+]\s*)?(?://|#|\*|/\*|<!--|func |def |class |import |from |const |let |var |type |async |export |public |private )` +
		`|^\s*(?:[-*•]|\d+\.) ` + `|[{;(,]\s*$` + `|=> ?[{(]` + `|\$\{` + `|^\s*\|.*\|\s*$` + `|^[-+](?:\s|\t|[a-z}])` + `|^[-dl][rwxsStT-]{9}`)

// numbered are lines of a file with their numbers, as tools show them.
var numbered = lazyregexp.New(`^\s*\d+(?:→|\t|\s*\|\s)`)

// readers are tools and programs that show what a file, a folder or a history holds, or search there.
var readers = []string{
	"read", "read_file", "readfile", "view", "view_file", "open_file", "grep", "grep_search", "glob", "ls", "list",
	"list_dir", "list_files", "find", "search_files", "file_search", "codebase_search", "notebookread", "batch_get",
	"cat", "sed", "head", "tail", "nl", "less", "more", "bat", "rg", "egrep", "fgrep", "zgrep", "ag", "ack", "fd",
	"tree", "stat", "file", "wc", "diff", "jq", "awk", "sort", "uniq", "cut", "tr", "xargs", "column", "strings",
	"zcat", "base64", "od", "xxd", "hexdump",
}

// neutral are programs that show nothing of their own, or only set the stage for the one that does.
var neutral = []string{
	"cd", "echo", "printf", "pwd", "export", "set", "true", "sleep", "source", "sudo", "env", "command", "time",
	"pushd", "popd", "which",
}

// isReading reports whether a call reads or searches: by the name of its tool, or, for a shell, by all commands in it.
func isReading(tool, arguments string) bool {
	tool = strings.ToLower(tool[strings.LastIndex(tool, "__")+1:])
	if slices.Contains(readers, strings.Trim(tool, "_")) {
		return true
	}
	command := commandIn(arguments)
	if command == "" {
		return false
	}
	reads := false
	for _, part := range separators().Split(quotes().ReplaceAllString(command, "''"), -1) {
		switch word := program(part); {
		case word == "" || slices.Contains(neutral, word):
		case slices.Contains(readers, word):
			reads = true
		default:
			return false
		}
	}
	return reads
}

var (
	separators = lazyregexp.New(`\|\||&&|[|;&\n]|\$\(`)
	quotes     = lazyregexp.New(`'[^']*'|"(?:[^"\\]|\\.)*"`)
	sets       = lazyregexp.New(`^\w+=`)
	redirects  = lazyregexp.New(`\d?>>?\s*(?:&\d|\S+)|<\s*\S+`)
)

// looks are the orders of git that show what a repository holds.
var looks = []string{"diff", "show", "log", "grep", "blame", "ls-files", "cat-file"}

// program returns the program that a part of a command starts: git with an order that looks counts as a reader.
func program(part string) string {
	words := strings.Fields(redirects().ReplaceAllString(part, " "))
	for i, word := range words {
		word = strings.Trim(word, "(){}!`")
		if word == "" || sets().MatchString(word) || word == "sudo" || word == "env" || word == "do" || word == "then" {
			continue
		}
		word = path.Base(word)
		if word == "git" && slices.ContainsFunc(words[i+1:], func(w string) bool { return slices.Contains(looks, w) }) {
			return "cat"
		}
		return word
	}
	return ""
}

// commandIn returns the shell command in a call's arguments, which are the JSON string that stands in the request.
func commandIn(arguments string) string {
	v := gjson.Parse(gjson.Parse(arguments).String())
	for _, key := range []string{"command", "cmd", "script"} {
		c := v.Get(key)
		if c.IsArray() { // as a program is started: the last is the script
			all := c.Array()
			if len(all) > 0 {
				return all[len(all)-1].String()
			}
		}
		if c.Type == gjson.String {
			return c.Str
		}
	}
	return ""
}
