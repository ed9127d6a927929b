package excerpt

import (
	"slices"
	"strings"
	"testing"
)

func TestAnErrorOnTheWayIsNotHowARunEnded(t *testing.T) {
	for _, c := range []struct {
		text string
		want Outcome
	}{
		{"Error response from daemon: No such container: old\n4f1c0c1d2e3f4f1c0c1d2e3f\n", Unknown},
		{"Error from server (NotFound): namespaces \"stage\" not found\nnamespace/stage created\n", Unknown},
		{"pod \"refund-1\" deleted\nError from server (NotFound): pods \"refund-2\" not found\n\n", Failed},
		{"fatal: [web-3]: FAILED! => {\"msg\": \"no such service\"}\n...ignoring\n\nPLAY RECAP ****\n" +
			"web-3 : ok=9    changed=3    unreachable=0    failed=0    skipped=0    rescued=0    ignored=1\n", Unknown},
		{"PLAY RECAP ****\nweb-3 : ok=9    changed=3    unreachable=0    failed=0    skipped=0\n" +
			"web-4 : ok=0    changed=0    unreachable=1    failed=0    skipped=0\n", Failed},
	} {
		if got := Read(c.text).Outcome; got != c.want {
			t.Errorf("%q ends with outcome %d, want %d", c.text, got, c.want)
		}
	}
}

func TestAServiceThatRunsIsNoFailure(t *testing.T) {
	text := "● nginx.service - A web server\n     Loaded: loaded (/usr/lib/systemd/system/nginx.service; enabled)\n" +
		"     Active: active (running) since Fri 2026-11-20 09:52:01 UTC; 2min ago\n      Tasks: 5 (limit: 9253)\n"
	if list := Failures(text, 3); len(list) > 0 {
		t.Errorf("a service that runs is told to have failed: %q", list)
	}
	if r := Read(text); !strings.HasPrefix(r.Line, "Active: active (running)") {
		t.Errorf("its line is %q", r.Line)
	}
	if list := Failures("FAIL test/refund.test.ts\n  ● refund › refunds the whole\n", 3); !slices.Contains(list, "● refund › refunds the whole") {
		t.Errorf("a failed test is told as %q", list)
	}
}

func TestWhatAnOperatorLooksForIsTold(t *testing.T) {
	for _, c := range []struct{ line, beside string }{
		{"migrate-x2x9p   0/1     Error   0   45m", "cart-7d9f5b6c4-k2m4p   1/1     Running   0   45m"},
		{"ip-10-2-19-20.internal   NotReady   <none>   22d   v1.29.4", "ip-10-2-19-21.internal   Ready      <none>   22d   v1.29.4"},
		{"/dev/nvme2n1  50G   50G     0 100% /var/lib/refund", "/dev/nvme1n1  50G   10G   40G  20% /var/lib/cart"},
		{`10.2.9.77 - - [20/Nov/2026:09:01:11 +0000] "GET /cart HTTP/1.1" 503 512`, `10.2.9.77 - - [20/Nov/2026:09:01:11 +0000] "GET /cart HTTP/1.1" 200 512`},
		{"4f1c0c1d2e3f   shop/refund:2.1   \"/refund\"   3 days ago   Exited (137) 2 hours ago     refund-1",
			"4f1c0c1d2e40   shop/cart:2.1     \"/cart\"     3 days ago   Up 3 days     8080/tcp   cart-1"},
		{"Nov 20 09:31:14 db-1 kernel: nvme nvme2: I/O 212 QID 3 timeout, aborting", "Nov 20 09:31:14 db-1 kernel: eth0: link up"},
		{"ssh: connect to host db-2 port 22: Connection timed out", "copying a.yml"},
		{"deploy@web-6: Permission denied (publickey).", "copying a.yml"},
		{"2026-11-20T09:31:14Z  net  AWS::EC2::Subnet  B  CREATE_FAILED  The CIDR conflicts",
			"2026-11-20T09:31:12Z  net  AWS::EC2::Subnet  A  CREATE_COMPLETE  -"},
		{"(error) READONLY You can't write against a read only replica.", "OK"},
		{"5 packets transmitted, 0 received, 100% packet loss, time 4081ms", "64 bytes from 10.2.9.2: icmp_seq=1 ttl=64 time=0.1 ms"},
		{"2026-11-20 09:01:02 ОШИБКА [worker-3] нет места", "2026-11-20 09:01:02 ИНФО [worker-3] готово"},
		{"2026-11-20 09:01:02 错误 [worker-3] 磁盘已满", "2026-11-20 09:01:02 信息 [worker-3] 完成"},
		{"s33.c:12:5: エラー: ‘zaiko’ が宣言されていません", "gcc -c -o s33.o s33.c"},
		{"cp: écriture de 'a.yml': Permission non accordée", "sending a.yml"},
	} {
		all := strings.Repeat(c.beside+"\n", 40) + c.line + "\n" + strings.Repeat(c.beside+"\n", 40)
		if list := Failures(all, 3); !slices.Equal(list, []string{c.line}) {
			t.Errorf("of a text with %q is told %q", c.line, list)
		}
	}
}

func TestWhatReadsLikeAnOperatorsTroubleIsNone(t *testing.T) {
	for _, line := range []string{
		"/dev/loop3      74M   74M     0 100% /snap/core22/1722", // always full
		`4f1c0c1d2e3f   shop/migrate:2.1   "/migrate"   3 days ago   Exited (0) 2 hours ago   migrate-1`,
		"100 packets transmitted, 100 received, 0% packet loss",
		"< HTTP/2 200",
		`10.2.9.77 - - [20/Nov/2026:09:01:11 +0000] "GET /refunds/500 HTTP/1.1" 200 500`,
		"Warten auf Verbindung, noch 3 Versuche",
		"4 von 4 Tests bestanden, 0 Fehler",
		"共 12 个任务，错误 0",
		"拒绝服务攻击防护已启用",
		"pod/refund-1 condition met",
		"nginx: configuration file /etc/nginx/nginx.conf test is successful",
		"what ssh: does when the host is away is told below",
		"The connection to the server is kept open, and a job for the night failed once last year",
	} {
		if list := Failures(line+"\n", 3); len(list) > 0 {
			t.Errorf("%q is told as a failure", line)
		}
	}
	if list := Failures("a: isSmall ? undefined : large\nis: total > 1 ? invalid : valid\n", 3); len(list) > 0 {
		t.Errorf("a choice of TypeScript is told as %q", list)
	}
	source := "package main\n\nfunc main() {\n\tif err != nil {\n\t\treturn errors.New(\"错误：配置\")\n\t}\n" +
		"\tconst usage = `GET /x HTTP/1.1\" 500 1`\n\tlog.Fatal(\"Fehler: kein Druck\");\n}\n"
	for _, tells := range Telling(strings.Repeat(source, 5)) {
		if tells {
			t.Fatal("a line of a program tells of a failure")
		}
	}
}

// Each of these has the words of a failure, or its mark, and tells of none that a command had.
func TestWhatIsToldOnTheWayIsNoFailure(t *testing.T) {
	for _, line := range []string{
		"  ! Several of these imports are unused.", "! Breaking change in the API", "! Important: run the tests first",
		"! Missing docs are not an error here", "! Use the new client",
		"[-] removed the old client", "[-] src/b.go", "[-] target does not appear to be injectable",
		"✗ Audit log    no    yes", "Pre-Release : All users", "Set-Cookie : A=1", "Write-Access : Granted", "Test-Mode : On",
		"Start-Time : Now", "Unit tests could not be found.",
		"Access-Control : Open", "corrupted files are skipped", "1. CREATE_FAILED means that there is none",
		"2026-11-20T10:00:01Z INFO  cache: mkdir /tmp/x: File exists",
		"10:00:01 [main] INFO cache: mkdir /tmp/x: Permission denied",
		"retry 1/5: dial tcp 127.0.0.1:5432: Connection refused", "Attempt 2 of 5: db: Connection refused", "waiting for db: Connection refused",
		"* connect to ::1 port 5173 from ::1 port 56487 failed: Connection refused",
		"docs/errors.md:12:  - mkdir: File exists", "docs/errors.md:12:mkdir: File exists", "- mkdir: File exists",
		"# Subtest: connect: Connection refused", "a.go:3:\t// as in mkdir: File exists",
	} {
		if list := Failures("begun\n"+line+"\n", 3); len(list) > 0 {
			t.Errorf("%q is told as a failure", line)
		}
	}
	if r := Read("Found 0 data race(s)\n"); r.Outcome != Unknown {
		t.Errorf("no race is read as %+v", r)
	}
	for _, line := range []string{
		"! LaTeX Error: File `fees.sty' not found.", "! Missing $ inserted.", "! Extra }, or forgotten $.",
		"! Package hyperref Error: Wrong driver option.", "! Too many }'s.", "! Use of \\fee doesn't match its definition.",
		"!  ==> Fatal error occurred, no output PDF file produced!", "! Undefined control sequence.",
		"  [-] adds the fees 1.2s (1.1s|2ms)", "[-] Discovery in fees.Tests.ps1 failed with:",
		"Copy-Item : Could not find a part of the path 'C:\\pay'.", "Set-Content : Access to the path is denied.",
		"Makefile:3: fees.mk: No such file or directory", "deploy.sh: line 3: pay: command not found",
		"* Failed to connect to localhost port 5173 after 0 ms: Couldn't connect to server",
		"mkdir: cannot create directory 'dist': File exists", "main.c:4:10: fatal error: fees.h: No such file or directory",
	} {
		if list := Failures("begun\n"+line+"\n", 3); len(list) != 1 {
			t.Errorf("of %q is told %q", line, list)
		}
	}
}

func TestAPlanTellsWhatGoesForGood(t *testing.T) {
	text := "  # aws_route53_record.a will be updated in-place\n  # aws_db_instance.refund must be replaced\n" +
		"  # aws_db_instance.reports will be destroyed\nPlan: 1 to add, 1 to change, 2 to destroy.\n"
	want := []string{"# aws_db_instance.refund must be replaced", "# aws_db_instance.reports will be destroyed"}
	if got := Losses(text, 3); !slices.Equal(got, want) {
		t.Errorf("the losses are %q", got)
	}
	if got := Losses("# the old pages will be destroyed by the next deploy\n", 3); len(got) > 0 {
		t.Errorf("prose tells of losses: %q", got)
	}
}
