package replay

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// At most so many names and lines are taken from the calls of one answer.
const (
	maxNames = 60
	maxLines = 40
)

// need is a name or line in the calls of an answer that messages before the answer contain.
type need struct {
	name
	isOld  bool  // the newest of the messages is more than five answers back
	places []int // of the messages, in order
}

// name is a text that the arguments of a call may have in common with what was said before: a path, an identifier, a
// number, a quoted text or a whole line.
type name struct {
	text   string
	isWord bool // it counts only where no letter, digit or underscore touches it
	isLine bool
}

var (
	paths = anyLine(`[~.]{0,2}/?[\p{L}\p{N}_.@+-]+(?:/[\p{L}\p{N}_.@+-]+)+`)
	words = anyLine(`[A-Za-z_$][\p{L}\p{N}_$]*(?:\.[A-Za-z_$][\p{L}\p{N}_$]*)+|[\p{L}\p{N}_]+`)
	texts = regexp.MustCompile("\"[^\"\n]{8,80}\"|'[^'\n]{8,80}'|`[^`\n]{8,80}`")

	mixed  = regexp.MustCompile(`[A-Za-z0-9]_[A-Za-z0-9]|^[A-Za-z]*[a-z0-9][A-Z]`) // snake_case or camelCase
	number = regexp.MustCompile(`^\p{Nd}{4,}$`)
)

// findNeeds sets the needs of all turns. No answer to the last request is known, so it has none.
func (s *session) findNeeds() {
	const old = 5 // answers
	places := map[name][]int{}
	for t := range s.turns[:len(s.turns)-1] {
		end := s.turns[t].end
		args := s.whole.messages[end].args
		for _, n := range append(namesIn(args), longLinesIn(args)...) {
			if _, known := places[n]; !known {
				places[n] = nil
				for i, m := range s.whole.messages {
					if n.isIn(m.text) || n.isIn(m.args) {
						places[n] = append(places[n], i)
					}
				}
			}
			if before, _ := slices.BinarySearch(places[n], end); before > 0 {
				isOld := t >= old && places[n][before-1] < s.turns[t-old].end
				s.turns[t].needs = append(s.turns[t].needs, need{n, isOld, places[n][:before]})
			}
		}
	}
}

// namesIn returns the names in text, each once, in the order of their first place: paths, dotted words, snake_case and
// camelCase words, integers of four digits and more, and quoted texts of 8 to 80 characters.
func namesIn(text string) (names []name) {
	type place struct {
		name
		start int
	}
	var all []place
	for _, at := range paths().FindAllStringIndex(text, -1) {
		all = append(all, place{name{text: text[at[0]:at[1]], isWord: true}, at[0]})
	}
	for _, at := range words().FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		isFraction := at[0] > 0 && text[at[0]-1] == '.' || at[1] < len(text) && text[at[1]] == '.'
		if strings.Contains(word, ".") || mixed.MatchString(word) || !isFraction && number.MatchString(word) {
			all = append(all, place{name{text: word, isWord: true}, at[0]})
		}
	}
	for _, at := range texts.FindAllStringIndex(text, -1) {
		all = append(all, place{name{text: text[at[0]+1 : at[1]-1]}, at[0]})
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(a.start-b.start, strings.Compare(a.text, b.text)) })
	for _, p := range all {
		if p.isWord {
			p.text = strings.Trim(p.text, ".")
		}
		if len(names) < maxNames {
			names = appendNew(names, p.name, 4, 200)
		}
	}
	return names
}

// longLinesIn returns the lines of text with 24 to 300 characters, each once and without the marks of a patch: the
// lines that an edit repeats from a file.
func longLinesIn(text string) (lines []name) {
	for line := range strings.SplitSeq(text, "\n") {
		if len(lines) == maxLines {
			break
		}
		line = strings.TrimRightFunc(strings.TrimLeft(line, "+- \t"), unicode.IsSpace)
		lines = appendNew(lines, name{text: line, isLine: true}, 24, 300)
	}
	return lines
}

// appendNew appends a name that has between least and most characters, unless one of names has its text.
func appendNew(names []name, n name, least, most int) []name {
	size := utf8.RuneCountInString(n.text)
	if size < least || size > most || slices.ContainsFunc(names, func(o name) bool { return o.text == n.text }) {
		return names
	}
	return append(names, n)
}

// isIn reports whether text contains the name.
func (n name) isIn(text string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], n.text)
		if i < 0 {
			return false
		}
		from += i
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[from+len(n.text):])
		if !n.isWord || !inWord(before) && !inWord(after) {
			return true
		}
		from++
	}
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// Nothing that is measured knows the rules in this file: which lines of an output tell what went wrong, and which calls
// only read.

// failuresIn returns the distinct lines of an output that tell what went wrong, as they are shown.
func failuresIn(text string) (lines []string) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		if line = shown(line); !seen[line] && isFailure(line) {
			lines = append(lines, line)
		}
		seen[line] = true
	}
	return lines
}

// isFailure reports whether a line tells what went wrong. Lines of more than 1000 bytes, such as data, never do.
func isFailure(line string) bool {
	switch {
	case len(line) > 1000 || success().MatchString(line):
		return false
	case failure().MatchString(line):
		return true
	case source().MatchString(line):
		return false
	}
	return failureWithin().MatchString(harmless().ReplaceAllString(line, " "))
}

// anyLine returns an expression whose alternatives stand on a line each. It is compiled when it is first needed: no
// other command should wait for it.
func anyLine(alternatives string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		lines := strings.FieldsFunc(alternatives, func(r rune) bool { return r == '\n' || r == '\t' })
		return regexp.MustCompile(strings.Join(lines, "|"))
	})
}

// success matches lines that say that something went well, whatever its name is.
var success = anyLine(`
	^\s*(?:ok|PASS|--- PASS|=== RUN|=== PAUSE|=== CONT|--- SKIP|✓|✔|√|✅|☑)(?:\s|:|$)
	(?:\.\.\. ok|\s(?:PASSED|passed|✓|✅))(?:\s*[\[(][^\])]*[\])])?$
`)

// failure matches lines of tests, exceptions, compilers and programs whose beginning or form tells a failure.
var failure = anyLine(`
	^\s*(?:--- )?(?:FAIL|FAILED|ERROR|FATAL)(?:$|[\s:])|\s(?:FAIL|FAILED|ERROR)(?:\s*[\[(].*)?$|^test result: FAILED
	^\s*(?:(?:✗|✕|×|✘|❌|✖|●)\s|not ok \d)
	^E\s{2,}\S
	^\s+\w+_test\.go:\d+: .*\b(?:[Ff]ail\w*|[Ee]rror|[Ee]xpected|[Uu]nexpected|want|got|not|missing)\b
	^\s*(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|want|left|right)\s*:\s
	^\s*(?:panic:|fatal:|fatal error:|thread '[^']*'.* panicked at|goroutine \d+ \[running|CONFLICT \()
	^\s*(?:Traceback \(most recent call last\)|Exception in thread|Caused by:)
	^\s*(?:Uncaught |Unhandled )?(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception|Panic)(?: \[\w+\])?(?::\s|$)
	(?:^|\s)AssertionError|^\s*[Aa]ssertion .*failed|^Segmentation fault|core dumped\)?$|SIGSEGV|signal: killed
	^\s*(?:fatal |internal )?(?:error|Error|ERROR)(?:\[\w+\]|\s+\w*\d{3,})?\s*:\s*\S
	^\S+\.\w{1,6}[:(]\d+(?:[:,]\d+)?\)?\s*:?\s+(?:-\s+)?(?:fatal )?(?:error|Error|ERROR)\b
	^(?:vet: )?\.{0,2}/?[\w./@+-]+\.\w{1,5}:\d+:\d+: \S|^\s*\d+:\d+\s+error\s|^e: \S+\.kts?
	: undefined reference to\s|^\s*make(?:\[\d+\])?: \*\*\*
	^(?:npm|pnpm) (?:ERR!|error)|^\s*ERR_\w+|\bELIFECYCLE\b
	##\[error\]|^\s*\[(?:ERROR|FATAL|error|fatal)\]|^[EW]?\d{4} .*\] .*\berror\b
	^\s*Error(?:\s\w+)? (?:in|from|at|while|response|code)\b
	^(?:\w*sh|/bin/\w+|\S+\.sh): .*(?:command not found|[Nn]o such file|[Pp]ermission denied|syntax error|line \d+:\s)
	^\s*(?:<tool_use_error>|Command failed|Error executing|(?:[Ff]ailed to|[Cc]annot|[Cc]ould not|[Uu]nable to)\s)
`)

// failureWithin matches lines in which a failure stands anywhere. It is for lines without harmless words.
var failureWithin = anyLine(`
	\b(?:ERROR|FATAL|SEVERE|PANIC|EMERG)\b|\d.*\sCRITICAL\b|\blevel"?[=:] ?"?(?:error|fatal|panic|critical)\b
	\b[1-9]\d* (?:(?:test|spec|example|check|suite)s? )?(?:failed|failing|failures?|errors?|problems?)\b
	\b(?:failed|failures?|errors?)["']?\s*[:=]\s*[1-9]\d*\b
	\b(?:exit|return|finish|terminat|complet)(?:ed)?(?: with)?(?: an?)? ?(?:exit )?(?:code|status)"?\s*[:=]?\s*-?[1-9]
	\bnon-zero (?:exit|code|status)
	(?:command not found|[Nn]o such file or directory|[Pp]ermission denied|[Cc]onnection (?:refused|reset))
	\b(?:ECONNREFUSED|ECONNRESET|ENOENT|EACCES|EADDRINUSE|ETIMEDOUT|ENOTFOUND|EPERM)\b(?:[:,"'\])]|$)
	\b(?:timed out|[Tt]imeout (?:of \S+ )?exceeded|[Oo]ut of memory|OOMKilled|CrashLoopBackOff|ImagePullBackOff)\b
	\b4\d\d (?:Bad Request|Unauthorized|Forbidden|Not Found|Conflict)\b
	\b5\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)\b
	^[^.!?]{0,60}\b(?:[Ee]rror|[Ee]xception|[Ff]ailed|[Ff]ailure|panic): \S
	^\S{1,60}(?:\s\S+){0,5} (?:failed|FAILED|crashed)[.:]?$
`)

// harmless matches words that only look like a failure: counts of none, and names.
var harmless = anyLine(`
	(?i)\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|failed|failing|problems?|exceptions?|timed out)\b
	(?i)\b(?:errors?|failures?|failed|failing|problems?)["']?\s*[:=]\s*["']?(?:0|none|null|nil|false|\[\]|\{\}|""|'')
	(?i)\berror[- ](?:handl(?:ing|er)|(?:message|code|path|case|type|state)s?|boundary|recovery|reporting|log|page)\b
	(?i)[\w./-]*(?:error|fail|panic|exception)[\w-]*\.[a-z]{1,5}\b
	(?i)[\w-]+[_/-](?:errors?|fail(?:ed|ure)?s?)\b|\b(?:errors?|fail(?:ed|ure)?s?)[_/-][\w-]+
`)

// source matches lines of a program, which may deal with a failure, and of a file that is shown with line numbers.
var source = anyLine(`
	\b(?:fmt\.Errorf|errors\.(?:New|Is|As|Wrap)|console\.(?:error|log|warn)|log(?:ger|ging|rus)?\.\w+)\(
	\bt\.(?:Error|Fatal|Log)f?\(|[{;(,]\s*$|=> ?[{(]|\$\{
	\b(?:throw new|raise [A-Z]|except [A-Z(]|if err\b|return (?:nil, )?err\b|Result<|(?:catch ?|new Error|panic|Err)\()
	^\s*(?:[-+]\s*)?(?://|#|\*|/\*|<!--|(?:func|def|class|import|from|const|let|var|type|async|export|public|private) )
	^\s*(?:[-*•]|\d+\.)\s|^\s*\|.*\|\s*$|^[-+](?:\s|[a-z}])|^[-dl][rwxsStT-]{9}|^\s*\d+(?:→|\t|\s*\|\s)
`)

// readers are the tools, and the programs of a shell, that show or search files, folders or history.
var readers = strings.Fields(`read read_file readfile view view_file open_file grep grep_search glob ls list list_dir
	list_files find search_files file_search codebase_search notebookread batch_get cat sed head tail nl less more
	bat rg egrep fgrep zgrep ag ack fd tree stat file wc diff jq awk sort uniq cut tr xargs column strings zcat base64
	od xxd hexdump`)

// silent are the programs that return nothing of interest.
var silent = strings.Fields(`cd echo printf pwd export set true sleep source command time pushd popd which`)

// gitReaders are the commands of git that read.
var gitReaders = strings.Fields(`diff show log grep blame ls-files cat-file`)

var (
	quoted    = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"`)
	separator = regexp.MustCompile(`\|\||&&|[|;&\n]|\$\(`)
	redirect  = regexp.MustCompile(`\d?>>?\s*(?:&\d|\S+)|<\s*\S+`)
	prefix    = regexp.MustCompile(`^(?:|\w+=.*|sudo|env|do|then)$`) // a word before the name of a program
)

// isReading reports whether a call reads or searches, by its tool or, for a shell, by all its commands.
func isReading(tool string, arguments []byte) bool {
	tool = strings.ToLower(tool[strings.LastIndex(tool, "__")+1:])
	if slices.Contains(readers, strings.Trim(tool, "_")) {
		return true
	}
	command := ""
	for _, key := range []string{"script", "cmd", "command"} {
		if words := gjson.GetBytes(arguments, key).Array(); len(words) > 0 {
			command = words[len(words)-1].String() // as in ["bash", "-c", "make test"]
		}
	}
	reads := false
	for _, part := range separator.Split(quoted.ReplaceAllString(command, "''"), -1) {
		words := strings.Fields(redirect.ReplaceAllString(part, " "))
		for i := range words {
			words[i] = strings.Trim(words[i], "(){}!`")
		}
		for len(words) > 0 && prefix.MatchString(words[0]) {
			words = words[1:]
		}
		switch {
		case len(words) == 0 || slices.Contains(silent, path.Base(words[0])):
		case slices.Contains(readers, path.Base(words[0])),
			path.Base(words[0]) == "git" && slices.ContainsFunc(words, func(w string) bool {
				return slices.Contains(gitReaders, w)
			}):
			reads = true
		default:
			return false
		}
	}
	return reads
}
