package form

import (
	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// memoryRows are what sanitizers, valgrind and debuggers write.
var memoryRows = []Row{
	{Tool: "sanitizer", Kind: Failure, Whole: true, first: "SUMMARY: ", like: pattern.Of(`^SUMMARY: \w+Sanitizer: \S`),
		sample: "SUMMARY: AddressSanitizer: heap-buffer-overflow /src/cursor.cc:18 in ringlog::Cursor::checksum() const"},
	{Tool: "sanitizer", Kind: Failure, first: "ERROR: ", like: pattern.Of(`^ERROR: \w+Sanitizer: `),
		sample: "==4242==ERROR: AddressSanitizer: heap-use-after-free on address 0x60"},
	{Tool: "sanitizer", Kind: Failure, first: "WARNING: ", like: pattern.Of(`^WARNING: \w+Sanitizer: `),
		sample: "WARNING: ThreadSanitizer: data race (pid=16038)"},
	{Tool: "sanitizer", Kind: Failure, Whole: true, needs: glance.Fail | glance.Place, has: ": runtime error: ",
		like:   pattern.Of(`^[^\s:]([^:]|:\\)*:\d+:\d+: runtime error: `),
		sample: "src/ring.cc:12:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'"},
	{Tool: "valgrind", Kind: Failure, Whole: true, begins: digits, has: " lost in loss record ",
		sample: "==15320== 2,048 bytes in 64 blocks are definitely lost in loss record 1 of 1"},
	{Tool: "valgrind", Kind: Failure, first: "Invalid ", like: pattern.Of(`^Invalid (read|write|free)\b`),
		sample: "==15320== Invalid write of size 4"},
	{Tool: "valgrind", Kind: Failure, Whole: true, first: "Conditional jump or move depends on uninitialised value",
		sample: "==15320== Conditional jump or move depends on uninitialised value(s)"},
	{Tool: "valgrind", Kind: Plain, first: "LEAK SUMMARY:", sample: "==15320== LEAK SUMMARY:"},
	{Tool: "valgrind", Kind: Total, first: "ERROR SUMMARY: ", like: pattern.Of(`^ERROR SUMMARY: [1-9]`), Says: Fails,
		sample: "==4242== ERROR SUMMARY: 3 errors from 2 contexts (suppressed: 0 from 0)"},
	{Tool: "valgrind", Kind: Total, first: "ERROR SUMMARY: 0 errors ",
		sample: "==4242== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)"},
	{Tool: "gdb", Kind: Failure, Whole: true, begins: "PT", has: " with signal SIG",
		like:   pattern.Of(`^Program terminated with signal SIG(SEGV|ABRT|BUS|FPE|ILL|SYS|KILL)\b`),
		sample: "Program terminated with signal SIGSEGV, Segmentation fault."},
	{Tool: "gdb", Kind: Failure, Whole: true, begins: "PT", has: " received signal SIG",
		like:   pattern.Of(`^(Program|Thread \d+( "[^"]*")?) received signal SIG(SEGV|ABRT|BUS|FPE|ILL|SYS)\b`),
		sample: `Thread 2 "crash" received signal SIGSEGV, Segmentation fault.`},
}
