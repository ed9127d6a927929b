package form

import (
	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// saidAtEnd are rows of failures that a command tells behind a name and a colon, at the end of a line.
func saidAtEnd(texts []string) []Row {
	rows := make([]Row, len(texts))
	for i, text := range texts {
		rows[i] = Row{Tool: "shell", Kind: Failure, Told: true, end: ": " + text, sample: "cp: a.txt: " + text}
	}
	return rows
}

// errorTexts are those of the C library for what a call of the system refuses, and what shells say likewise.
var errorTexts = [...]string{
	"command not found", "No such file or directory", "Permission denied", "Not a directory", "Directory not empty",
	"File exists", "Read-only file system", "Operation not permitted", "No space left on device", "Disk quota exceeded",
	"Invalid cross-device link", "Device or resource busy", "Text file busy", "Too many open files", "File too large",
	"Input/output error", "Broken pipe", "Cannot allocate memory", "Argument list too long", "Exec format error",
	"Too many levels of symbolic links", "File name too long",
	"Connection refused", "Connection reset by peer", "Connection timed out", "No route to host", "Network is unreachable",
	"Name or service not known", "Temporary failure in name resolution", "Address already in use",
	"a password is required", "a terminal is required to authenticate", "bad substitution", "unbound variable",
	"ambiguous redirect", "division by 0",
}

// cmdletSays finds what a command of PowerShell says: its name has one of PowerShell's verbs, and a
// message has words. A header has not.
const cmdletSays = `^(Add|Clear|Co(mpare|mpress|nnect|nvertFrom|nvertTo|py)|Disable|Enable|Expand|Export|Find|` +
	`ForEach|Format|Get|Import|Install|Invoke|Join|Measure|Move|New|Out|Pop|Publish|Push|Re(ceive|gister|move|name|` +
	`solve|start)|Save|Select|Send|Set|Split|Start|Stop|Test|Un(install|register)|Update|Wait|Where|Write)` +
	`-[A-Z]\w+ : [A-Z]\S*( \S+){2}`

// shellRows are what shells, and the small tools beside them, write of a command that fails.
var shellRows = []Row{
	{Tool: "shell", Kind: Failure, Late: true, end: ": Is a directory", sample: "grep: src: Is a directory"},
	{Tool: "shell", Kind: Failure, end: "(core dumped)", sample: "Segmentation fault (core dumped)"},
	{Tool: "shell", Kind: Failure, first: "Segmentation fault", sample: "Segmentation fault"},
	{Tool: "shell", Kind: Failure, Whole: true, needs: glance.Fail, has: ": syntax error",
		sample: "deploy.sh: line 3: syntax error near unexpected token `done'"},
	{Tool: "shell", Kind: Failure, Whole: true, needs: glance.Trouble, has: ": unexpected EOF while looking for matching ",
		sample: "deploy.sh: line 12: unexpected EOF while looking for matching `\"'"},
	{Tool: "zsh", Kind: Failure, Whole: true, first: "zsh:",
		like:   pattern.Of(`^zsh:(\d+:)? (command not found|no matches found|no such file or directory|permission denied): `),
		sample: "zsh: command not found: pay"},
	{Tool: "fish", Kind: Failure, Whole: true, first: "fish: Unknown command", sample: "fish: Unknown command: pay"},
	{Tool: "cmd", Kind: Failure, Whole: true, first: "'", has: "' is not recognized as an internal or external command",
		sample: "'pay' is not recognized as an internal or external command,"},
	{Tool: "cmd", Kind: Failure, first: "The system cannot find the ", sample: "The system cannot find the path specified."},
	{Tool: "cmd", Kind: Failure, first: "Access is denied.", sample: "Access is denied."},
	{Tool: "PowerShell", Kind: Failure, Whole: true, like: pattern.Of(cmdletSays), has: " : ",
		begins: "ACDEFGIJLMNOPRSTUW", sample: "Get-Item : Cannot find path 'C:\\pay' because it does not exist."},
	{Tool: "PowerShell", Kind: Failure, Late: true, first: "+ CategoryInfo  ", has: " : ",
		sample: "    + CategoryInfo          : InvalidOperation: (:) [], RuntimeException"},
	{Tool: "PowerShell", Kind: Reason, begins: "AI", like: pattern.Of(`^(At|In) \S.*:\d+ (char|Zeichen):\d+\r?$`),
		sample: `At C:\build\deploy.ps1:57 char:3`},
	{Tool: "PowerShell", Kind: Reason, first: "+ FullyQualifiedErrorId :",
		sample: "    + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.GetItemCommand"},
	// small tools
	{Tool: "ShellCheck", Kind: Failure, Whole: true, Below: true, first: "^-", has: " (error): ",
		sample: "       ^-- SC1073 (error): Couldn't parse this double quoted string. Fix to allow more checks."},
	{Tool: "ShellCheck", Kind: Warning, Late: true, first: "^-", has: " (warning): ",
		sample: "  ^-- SC2164 (warning): Use 'cd ... || exit' in case cd fails."},
	{Tool: "awk", Kind: Failure, end: "^ syntax error", sample: "awk: cmd. line:1:          ^ syntax error"},
	{Tool: "sed", Kind: Failure, Whole: true, first: "sed: -e expression #",
		sample: "sed: -e expression #1, char 3: unterminated `s' command"},
	{Tool: "jq", Kind: Failure, Whole: true, first: "jq: error", sample: "jq: error (at <stdin>:1): Cannot index number with \"id\""},
	{Tool: "tar", Kind: State, first: "tar: Exiting with failure status", Says: Fails,
		sample: "tar: Exiting with failure status due to previous errors"},
	{Tool: "coreutils", Kind: Failure, Whole: true, has: ": cannot ", begins: "rmcltd",
		like:   pattern.Of(`^(rm|rmdir|mv|cp|ls|ln|mkdir|touch|tar|chmod|chown|du|dd|tail|truncate): cannot `),
		sample: "rm: cannot remove 'dist': Is a directory"},
	{Tool: "git", Kind: Failure, Whole: true, first: "Unlink of file '", has: "' failed. Should I try again?",
		sample: "Unlink of file 'bin/payout.dll' failed. Should I try again? (y/n)"},
	{Tool: "ssh", Kind: Failure, first: "Host key verification failed.", sample: "Host key verification failed."},
	{Tool: "wget", Kind: Failure, Whole: true, first: "wget: unable to resolve host address",
		sample: "wget: unable to resolve host address 'shop.test'"},
	{Tool: "redis-cli", Kind: Failure, Whole: true, first: "Could not connect to Redis at ",
		sample: "Could not connect to Redis at 127.0.0.1:6379: Connection refused"},
	{Tool: "systemctl", Kind: Failure, first: "Unit ", like: pattern.Of(`^Unit \S+\.[a-z]+ could not be found\.$`),
		sample: "Unit refund.service could not be found."},
	// loaders and C++'s own
	{Tool: "ld.so", Kind: Failure, Whole: true, needs: glance.Fail, has: ": error while loading shared libraries: ",
		sample: "./refund: error while loading shared libraries: libpay.so.3: cannot open shared object file: No such file or directory"},
	{Tool: "dyld", Kind: Failure, Whole: true, first: "dyld", has: "Library not loaded: ",
		sample: "dyld[4242]: Library not loaded: @rpath/libpay.dylib"},
	{Tool: "C++", Kind: Failure, first: "terminate called ",
		sample: "terminate called after throwing an instance of 'std::runtime_error'"},
	{Tool: "C++", Kind: Failure, first: "libc++abi: terminating ",
		sample: "libc++abi: terminating due to uncaught exception of type std::runtime_error: no rate"},
	{Tool: "C++", Kind: Reason, first: "what(): ", sample: "  what():  no rate for XTS"},
	{Tool: "glibc", Kind: Failure, like: pattern.Of(`^(double free or corruption|free\(\): |malloc\(\): |corrupted (size|double)|munmap_chunk\(\): )`),
		begins: "dfmc", sample: "double free or corruption (out)"},
	{Tool: "glibc", Kind: Failure, first: "*** stack smashing detected ***", sample: "*** stack smashing detected ***: terminated"},
}
