package form

import (
	"epitome/pattern"
)

// scanRows are what programs write that look for weaknesses, and those that look into others as they run.
var scanRows = []Row{
	{Tool: "nmap", Kind: Failure, Late: true, first: "QUITTING!", Says: Fails, sample: "QUITTING!"},
	{Tool: "nmap", Kind: Failure, Whole: true, first: "You requested a scan type which requires root privileges.",
		sample: "You requested a scan type which requires root privileges."},
	{Tool: "clamscan", Kind: Failure, Whole: true, end: " FOUND", like: pattern.Of(`: [A-Z]\w+[.-][\w.:-]+ FOUND$`),
		sample: "/src/evil.doc: Win.Trojan.Agent-1234 FOUND"},
	{Tool: "clamscan", Kind: Total, first: "Infected files: ", like: pattern.Of(`^Infected files: [1-9]`), Says: Fails,
		sample: "Infected files: 1"},
	{Tool: "gitleaks", Kind: Total, begins: digits, has: " leaks found: ", like: pattern.Of(`WRN leaks found: [1-9]`), Says: Fails,
		sample: "9:31AM WRN leaks found: 3"},
	{Tool: "gitleaks", Kind: Total, begins: digits, end: "INF no leaks found", Says: Succeeds, sample: "9:31AM INF no leaks found"},
	{Tool: "hashcat", Kind: Plain, first: "Rejected.....", sample: "Rejected.........: 0/14344385 (0.00%)"},
	{Tool: "hashcat", Kind: Total, first: "Recovered.....", sample: "Recovered........: 0/4 (0.00%) Digests (total), 0/4 (0.00%) Digests (new)"},
	{Tool: "npm audit", Kind: Reason, Late: true, first: "Severity: ", sample: "Severity: critical"},
	{Tool: "npm audit", Kind: Total, begins: digits, end: "severity vulnerability", sample: "1 critical severity vulnerability"},
	{Tool: "semgrep", Kind: Total, first: "• Findings: ", sample: " • Findings: 2 (2 blocking)"},
	{Tool: "bandit", Kind: Failure, Whole: true, first: ">> Issue: [B",
		sample: ">> Issue: [B307:blacklist] Use of possibly insecure function - consider using safer ast.literal_eval."},
	{Tool: "openssl", Kind: Failure, Late: true, first: "Verify return code: ", like: pattern.Of(`^Verify return code: [1-9]`),
		sample: "Verify return code: 10 (certificate has expired)"},
	{Tool: "afl", Kind: Failure, Whole: true, first: "[-] PROGRAM ABORT : ", Says: Fails,
		sample: "[-] PROGRAM ABORT : All test cases time out or crash, giving up!"},
	{Tool: "libFuzzer", Kind: Reason, first: "artifact_prefix='", has: "Test unit written to ",
		sample: "artifact_prefix='./'; Test unit written to ./crash-0eb8e4ed029b774d80f2b66408203801cb982a60"},
	// debuggers and tracers
	{Tool: "gdb", Kind: Frame, first: "#", like: pattern.Of(`^#\d+ +(0x[0-9a-f]+ in .*\)( from \S+)?|\S.* \(.*\) at \S+:\d+)$`),
		sample: "#0  0x000055555555519d in parse_header (buf=0x0, len=128) at src/parse.c:41"},
	{Tool: "sanitizer", Kind: Frame, first: "#", like: pattern.Of(`^#\d+ 0x[0-9a-f]+ (in \S|\()`),
		sample: "    #0 0x55d0c1 in parse_header /src/parse.c:41:12"},
	{Tool: "lldb", Kind: Failure, Whole: true, first: "* thread #", has: "stop reason = ",
		like:   pattern.Of(`stop reason = (EXC_(BAD_ACCESS|BAD_INSTRUCTION|ARITHMETIC|CRASH|RESOURCE|GUARD)|signal SIG(SEGV|ABRT|BUS|FPE|ILL|SYS|KILL)|Fatal error)`),
		sample: "* thread #1, queue = 'com.apple.main-thread', stop reason = EXC_BAD_ACCESS (code=1, address=0x0)"},
	{Tool: "lldb", Kind: Frame, begins: "f*", has: "frame #", like: pattern.Of(`^(\* )?frame #\d+: 0x`),
		sample: "    frame #0: 0x0000000100003f1c srv`parse_header(buf=0x0, len=128) at parse.c:41:12"},
	{Tool: "strace", Kind: Failure, Late: true, end: ")", has: " = -1 E",
		like:   pattern.Of(`^(\[pid +\d+\] )?\w+\(.* = -1 E(ACCES|PERM|CONNREFUSED|NOSPC|MFILE|TIMEDOUT|NOMEM|ROFS|IO) \(.*\)$`),
		sample: `openat(AT_FDCWD, "/etc/srv/key.pem", O_RDONLY) = -1 EACCES (Permission denied)`},
	{Tool: "strace", Kind: Failure, first: "+++ killed by SIG", sample: "+++ killed by SIGSEGV (core dumped) +++"},
	{Tool: "valgrind", Kind: Failure, first: "Process terminating with default action of signal ",
		sample: "==4242== Process terminating with default action of signal 11 (SIGSEGV)"},
	// the kernel of a machine that goes down
	{Tool: "kernel", Kind: Failure, Whole: true, first: "BUG: ",
		like:   pattern.Of(`^BUG: (KASAN|KFENCE|KMSAN|kernel |unable to handle|soft lockup|workqueue lockup|Bad |scheduling while|sleeping function|spinlock)`),
		sample: "[  412.123456] BUG: kernel NULL pointer dereference, address: 0000000000000008"},
	{Tool: "kernel", Kind: Failure, Whole: true, first: "watchdog: BUG: ", sample: "[  412.1234] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [refund:4242]"},
	{Tool: "kernel", Kind: Failure, Whole: true, first: "Kernel panic - not syncing: ", sample: "[  412.1234] Kernel panic - not syncing: Fatal exception"},
	{Tool: "kernel", Kind: Failure, first: "Oops: ", like: pattern.Of(`^Oops: .*\[#\d+\]`), sample: "[  412.123470] Oops: 0000 [#1] PREEMPT SMP NOPTI"},
	{Tool: "kernel", Kind: Failure, Whole: true, first: "Unable to handle kernel ",
		sample: "[  412.1234] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000008"},
	{Tool: "kernel", Kind: Reason, first: "RIP: ", like: pattern.Of(`^RIP: [0-9a-f]{4}:\S+\+0x`), sample: "[  412.123490] RIP: 0010:refund_open+0x12/0x40 [refund]"},
}
