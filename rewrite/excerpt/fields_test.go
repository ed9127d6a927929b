package excerpt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// How a run ended is told in the words of its tool, also where the same tool says it of parts.
func TestHowBuildsTestsAndMigrationsEnd(t *testing.T) {
	f := func(want Outcome, lines ...string) {
		t.Helper()
		if got := Read(strings.Join(lines, "\n") + "\n").Outcome; got != want {
			t.Errorf("%q ends with outcome %d, want %d", lines, got, want)
		}
	}
	f(Failed, "/srv/F.swift:31:9: error: cannot find 'total' in scope", "** BUILD FAILED **", "",
		"The following build commands failed:", "\tCompileSwift normal", "(1 failure)")
	f(Succeeded, "Touch /srv/App.app", "** BUILD SUCCEEDED **")
	f(Failed, "Test Suite 'B' passed at 09:31", "\t Executed 1 test, with 0 failures (0 unexpected)", "Test Suite 'A' failed at 09:31",
		"\t Executed 2 tests, with 1 failure (0 unexpected)")
	f(Unknown, "\t Executed 2 tests, with 1 failure (0 unexpected)", "\t Executed 1 test, with 0 failures (0 unexpected)", "** TEST SUCCEEDED **") // tried again
	f(Failed, "\t Executed 2 tests, with 1 failure (0 unexpected)")
	f(Unknown, "Gradle task assembleRelease failed with exit code 1", "Retrying Gradle Build: #1", "✓ Built build/app.apk (21.4MB)")
	f(Failed, "Gradle task assembleRelease failed with exit code 1")
	f(Unknown, "[!] Unable to read the license file of the spec", "Pod installation complete!")
	f(Unknown, "❌  /srv/App/Refund.swift:31:9: cannot find 'total' in scope", "** BUILD SUCCEEDED **") // of two targets
	f(Failed, "✘ Test whole() recorded an issue at F.swift:12:5: Expectation failed",
		"✔ Test part() passed after 0.001 seconds.", "✘ Test run with 2 tests failed after 0.002 seconds with 1 issue.")
	f(Succeeded, "✔ Test part() passed after 0.001 seconds.", "✔ Test run with 2 tests passed after 0.002 seconds.")
	f(Unknown, "✔ Test run with 0 tests passed after 0.001 seconds.")
	f(Succeeded, "Running Gradle task 'assembleRelease'...   41.2s", "✓ Built build/app/outputs/flutter-apk/app-release.apk (21.4MB)")
	f(Succeeded, "00:00 +0: loading test/refund_test.dart", "00:05 +42: All tests passed!")
	f(Succeeded, "Analyzing shop...", "No issues found! (ran in 2.1s)")
	f(Failed, "========================= [SUCCESS] Took 4.21 seconds =========================", "====== [FAILED] Took 2.11 seconds ======")
	f(Succeeded, "========================= [SUCCESS] Took 4.21 seconds =========================")
	f(Succeeded, "** Programming Finished **", "** Verified OK **", "** Resetting Target **")
	f(Failed, "** Programming Started **", "Error: failed erasing sectors 0 to 11", "** Programming Failed **")
	f(Failed, "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD", "with errorcode 17.", "", "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.")
	f(Failed, "slurmstepd: error: Detected 1 oom_kill event in StepId=918281.0.", "srun: error: gpu-07: task 0: Out Of Memory")
	f(Unknown, "srun: error: gpu-07: task 0: Out Of Memory", "evaluated 12 of 12 on gpu-08")
	f(Succeeded, "Migrating schema \"public\" to version \"40 - add cents\"", "Successfully applied 1 migration to schema \"public\", now at version v40")
	f(Unknown, "Successfully validated 41 migrations (execution time 00:00.112s)", "ERROR: Validate failed: Migrations have failed validation")
	f(Succeeded, "Liquibase command 'update' was executed successfully.")
	f(Failed, "Calculating Metrics: 100%", "Validation failed!", "- refunds.warning   ✖ Failed   11 of 12 (91.67 %)")
	f(Unknown, "psql:migrate.sql:41: ERROR:  column \"a\" already exists", "ROLLBACK") // it goes on
}

// Of what these tools write, the three lines that tell most are these.
func TestWhatAnEngineerOfOtherFieldsLooksForIsTold(t *testing.T) {
	f := func(beside string, want ...string) {
		t.Helper()
		all := strings.Repeat(beside+"\n", 40) + strings.Join(want, "\n") + "\n" + strings.Repeat(beside+"\n", 40)
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		if got := Failures(all, 3); !slices.Equal(got, want) {
			t.Errorf("of a text with %q is told %q", want, got)
		}
	}
	f("918269          evalall  COMPLETED      0:0 ", "918270          evalall OUT_OF_ME+    0:125", "918271          pretrn6    TIMEOUT      0:0")
	f("residual 1.2e-3", "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD", "with errorcode 17.")
	f("I1120 09:31:14.114210    4242 refund.cc:31] served order 7", "E1120 09:41:15.114210    4242 pool.cc:91] no connection to 10.2.0.5:5432 within 5 s")
	f("[rank3]: step 7", "[rank3]:[E1120 09:41:12.411235 140033 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4)")
	f("11-20 09:31:14.123  1200  1300 I chatty  : well", "11-20 09:41:15.001   512   600 E ActivityManager: ANR in com.shop (com.shop/.MainActivity)",
		"11-20 09:41:15.001   512   600 E ActivityManager: Reason: Input dispatching timed out (com.shop is not responding.)")
	f("11-20 09:31:14.123  1200  1300 I chatty  : well", "11-20 09:41:15.001  4242  4242 E AndroidRuntime: java.lang.RuntimeException: Unable to start",
		"11-20 09:41:15.001  4242  4242 E AndroidRuntime: Caused by: java.lang.IllegalStateException: no order",
		"11-20 09:41:15.001  4242  4242 E AndroidRuntime: \tat com.shop.RefundActivity.onCreate(RefundActivity.kt:31)")
	f("[00:00:00.412,000] <inf> refund: order 7 ok", "[00:03:00.412,000] <err> refund: no order in flash (-2)")
	f("I (100) refund: order 7 ok", "E (15120) refund: no order in flash")
	f("[  12.1234] usb 1-1: new high-speed USB device", "[  412.123456] BUG: kernel NULL pointer dereference, address: 0000000000000008",
		"[  412.123490] RIP: 0010:refund_open+0x12/0x40 [refund]")
	f("Nov 20 09:31:14 web-1 kernel: usb 1-1: new device", "Nov 20 09:31:14 web-1 kernel: Kernel panic - not syncing: Fatal exception")
	f(`openat(AT_FDCWD, "/lib/x.so", O_RDONLY) = -1 ENOENT (No such file or directory)`, `openat(AT_FDCWD, "/etc/key.pem", O_RDONLY) = -1 EACCES (Permission denied)`)
	f("/src/a.c: OK", "/src/evil.doc: Win.Trojan.Agent-1234 FOUND")
	f("[New Thread 0x7ffff6dff6c0 (LWP 4243)]", `Thread 2 "srv" received signal SIGSEGV, Segmentation fault.`,
		"#0  0x000055555555519d in parse_header (buf=0x0, len=128) at src/parse.c:41")
	f("Linking firmware.elf", "/opt/gcc/bin/ld: region `FLASH' overflowed by 4120 bytes")
	f("CREATE TABLE", "psql:m.sql:41: ERROR:  column \"a\" already exists", "psql:m.sql:44: ERROR:  current transaction is aborted, commands ignored until end of transaction block")
	f("Successfully validated 41 migrations", "ERROR: Script V40__add_cents.sql failed", "Message    : ERROR: column \"cents\" already exists")
	f("Start importing Assets/a.fbx using Guid(4f1c)", "Shader error in 'Shop/Fee': undeclared identifier '_Tint' at line 57 (on d3d11)")
	f("[cart] spawned 7", "SCRIPT ERROR: Invalid call. Nonexistent function 'total' in base 'Nil'.",
		"          at: _process (res://scripts/cart_view.gd:57)")
	f("[cart] spawned 7", `E 0:00:07:0112   cart_view.gd:57 @ _ready(): Node not found: "Panel/Total".`)
	f("[2026.11.20-09.31.14:113][ 42]LogCook: Display: Cooked packages 7", "[2026.11.20-09.31.14:113][ 42]LogBlueprint: Error: [Compiler] no variable named \"Total\"")
	f("[7/900] Compile [x64] Module.Cart.cpp", `D:\shop\Source\CartView.cpp(57): error C2065: 'Total': undeclared identifier`)
	f("  Shop.Cart -> C:\\src\\bin\\Shop.Cart.dll", "LINK : fatal error LNK1104: cannot open file 'payout.lib'")
	f("Bound cart to port 8080", "At C:\\build\\deploy.ps1:57 char:3",
		"    + CategoryInfo          : InvalidOperation: (:) [], RuntimeException", "    + FullyQualifiedErrorId : InvokeMethodOnNull")
	f("warning: LF will be replaced by CRLF", "Unlink of file 'bin/payout.dll' failed. Should I try again? (y/n)")
	f("64 bytes from 10.2.0.5: icmp_seq=7 ttl=63 time=0.6 ms", "From 10.2.0.1 icmp_seq=131 Destination Host Unreachable")
	f("64 bytes from 10.2.0.5: icmp_seq=7 ttl=63 time=0.6 ms", "Request timeout for icmp_seq 130")
	f("* SSL certificate verify ok.", "* SSL certificate problem: unable to get local issuer certificate")
	f("Nov 20 09:31:14 mx-1 postfix/smtp[42]: 7F3A: to=<a@x.test>, dsn=2.0.0, status=sent (250 2.0.0 OK)",
		"Nov 20 09:31:15 mx-1 postfix/smtp[42]: 7F3B: to=<b@x.test>, dsn=5.1.1, status=bounced (host said: 550 no such user)")
	f("0 lock struct(s), heap size 1128, 0 row lock(s)", "------- TRX HAS BEEN WAITING 2471 SEC FOR THIS LOCK TO BE GRANTED:")
	f("  MemoryPressure   False   Fri, 20 Nov 2026 09:31:14 +0000   kubelet has sufficient memory available",
		"  DiskPressure     True    Fri, 20 Nov 2026 09:31:14 +0000   kubelet has disk pressure")
	f("▸ Compiling F.swift", "❌  /srv/App/Refund.swift:31:9: cannot find 'total' in scope")
	f("Connecting........_____", "A fatal error occurred: Failed to connect to ESP32: Wrong boot mode detected (0x13)!")
}

// Lines like those of tools that failed, in prose, in data and in what went well.
func TestWhatReadsLikeTheirTroubleIsNone(t *testing.T) {
	for _, line := range []string{
		"918272 orders are open, 1:0 for us", "3 doors EXIT here", "E major: the key of the sonata", "E (see below) the rate",
		"W (1) is a width", "F1120 is a part of the order", "#12 Refund the whole (again)", "#4 is at src/parse.c:41",
		"** Important **", "** Verified **", "BUG: the button is blue", "RIP: the old client",
		"the page was NOT FOUND", "404: NOT FOUND", "region 7 grew by 12 bytes", "a.b.c: one of many", "Target group: all",
		"| a | failed | b |", "Error Code : 0", "Message    : well", "Infected files: 0", "9:31AM INF no leaks found",
		"Validation of the sheet", "Executed 2 tests, with 0 failures (0 unexpected) in 0.013 (0.015) seconds", "strace(1) = -1 or so",
		"1) \"session:91ab\"", "3) (integer) 7", "LogCook: Display: Cooked packages 7", "at: the shop (res://a)",
		"E 0:07 is the time of the sonata", "At C:\\shop\\deploy.ps1 it begins", "At 9:31 char: 7", "LINK : the page of it",
		"Shader warning in 'Shop/Fee': implicit truncation at line 58", "* SSL certificate verify ok.", "From Ada icmp_seq=1 and so on",
		"AutomationTool exiting with ExitCode=0 (Success)", "  DiskPressure     False   Fri, 20 Nov 2026 09:31:14 +0000   no disk pressure",
		"Nov 20 09:31:14 mx-1 postfix/smtp[42]: 7F3A: to=<a@x.test>, status=sent (250 OK, never status=bounced)",
		"Unlink of file 'a.dll' went well", "DiskPressure True is what the kubelet says then", "a ~ b # forces replacement is a remark",
		"psql:m.sql:3: NOTICE:  relation \"refunds\" exists, skipping", "[!] 2 notes", "Test Suite 'All tests' started at 09:31",
	} {
		if list := Failures("begun\n"+line+"\nended\n", 3); len(list) > 0 {
			t.Errorf("%q is told as a failure", line)
		}
	}
	if r := Read("#12 Error: the build failed (again)\n"); r.Line == "" {
		t.Error("an entry of a list is taken for a frame")
	}
}

// A loss that is no number is worth a look, and says nothing of how the run ended.
func TestALossThatIsNoNumberIsSeen(t *testing.T) {
	text := strings.Repeat("step 10 | loss 2.5162 | grad_norm 0.551\n", 300) + "step 20 | loss nan | grad_norm nan\n" +
		strings.Repeat("step 30 | loss 2.5162 | grad_norm 0.551\n", 300)
	if list := Trouble(text, 3); !slices.Equal(list, []string{"step 20 | loss nan | grad_norm nan"}) {
		t.Errorf("of the log is told %q", list)
	}
	if got := Read(text).Line; got != "step 20 | loss nan | grad_norm nan" {
		t.Errorf("the line that matters most is %q", got)
	}
	bars := ""
	for i := range 300 {
		bar := strings.Repeat("█", i/30) + strings.Repeat(" ", 10-i/30)
		bars += fmt.Sprintf("Epoch 3: %3d%%|%s| %d/300 [00:42<01:18, 11.2it/s, loss=nan]\n", i/3, bar, i)
	}
	const warning = "WARNING: checkpoint 3 was not saved\n"
	log := strings.ReplaceAll(bars, "nan", "0.41") + bars + warning + bars
	e, _ := Of(log, Budget{Tokens: 200, Head: 0.5, Count: pieces}, ownMark)
	if shown := brief(e); !strings.Contains(shown, warning) || strings.Count(shown, "loss=nan") > 12 {
		t.Errorf("shown is\n%s", shown)
	}
	if got := Read("val_loss: nan\n===== 5 passed in 1.23s =====\n").Outcome; got != Succeeded {
		t.Errorf("outcome %d", got)
	}
}
