package scripted_test

import (
	"os"
	"strings"
	"testing"

	"epitome/scripted"
	"epitome/scripted/scriptedtest"
)

func TestParseErrors(t *testing.T) {
	const intro = "a comment\n-- file:f --\none\ntwo\n-- GET /x --\n\n"
	for _, tt := range []struct{ lines, want string }{
		{"status 200\nboo", `line 8: unknown command "boo"`},
		{"body-fill 1", `line 7: unknown command "body-fill"`},
		{"event-size 1", `line 7: unknown command "event-size"`},
		{"status 20 OK", `line 7: status: "20" must be a code of three digits`},
		{"status abc", `line 7: status: "abc" must be a code of three digits`},
		{`status 200 "a`, `line 7: status: "a is not a quoted string`},
		{"status 200\nstatus 200", "line 8: status: the status is already given"},
		{"interim 200", "line 7: interim: the code must be 1xx"},
		{"header A: b", "line 7: header: must follow interim, status or another header line"},
		{"status 200\nbody x\nheader A: b", "line 9: header: must follow interim, status or another header line"},
		{"status 200\nflush\nheader A: b", "line 9: header: must follow interim, status or another header line"},
		{"flush", "line 7: flush: there is no head to send"},
		{"status 200\nheader A", `line 8: header: "A" must be NAME: VALUE`},
		{"expect-header : b", `line 7: expect-header: ": b" must be NAME: VALUE`},
		{"expect-no-header", "line 7: expect-no-header: needs a name"},
		{"expect-body-size x", `line 7: expect-body-size: "x" must be a number of bytes up to 1073741824`},
		{"expect-body-file g", `line 7: expect-body-file: there is no data file "g"; add -- file:g --`},
		{"body x", "line 7: body: needs a status line before it"},
		{"status 200\nbody-size 1073741825",
			`line 8: body-size: "1073741825" must be a number of bytes up to 1073741824`},
		{"status 200\nbody-size 1 xy", `line 8: body-size: "xy" must be a single byte`},
		{"status 200\nchunk", "line 8: chunk: an empty chunk is the last one; say end"},
		{"status 200\nchunk a", "line 5: has chunks without end; say end or how the connection closes"},
		{"status 200\nend\nchunk a", "line 9: chunk: the last chunk is already sent"},
		{"status 200\nend\nend", "line 9: end: the last chunk is already sent"},
		{"status 200\nchunk a\nbody b\nend", "line 5: has both body and chunk lines"},
		{"no-length\nstatus 200\nchunk a\nend", "line 5: has both chunk lines and no-length"},
		{"status 200\ntrailer A: b\nbody x", "line 5: has a trailer that no end line sends"},
		{"pause soon", `line 7: pause: "soon" must be a duration such as 20ms`},
		{"pause 31s", "line 7: pause: 31s must be at least 0s and at most 30s"},
		{"await", "line 7: await: needs a name, one word"},
		{"keep-alive on", `line 7: keep-alive: "on" must be off`},
		{"repeat 3", "line 7: repeat: takes no argument"},
		{"status 200\nearly", "line 8: early: must stand before the first played line"},
		{"early\nstop-reading", "line 8: stop-reading: there is another line on when to read"},
		{"slow-read 0 1s", "line 7: slow-read: must read at least 1 byte at a time"},
		{"slow-read 1", `line 7: slow-read: "" must be a duration such as 20ms`},
		{"slow-read 1 1s\nstop-reading\nstatus 200", "line 5: has both slow-read and stop-reading"},
		{"stop-reading\nexpect-body x\nstatus 200", "line 5: cannot expect a body after stop-reading"},
		{"read-body", "line 7: read-body: needs early before it"},
		{"upgrade", "line 7: upgrade: needs a status line before it"},
		{"hangup\nstatus 200", "line 8: status: nothing is played after hangup"},
		{"reset\nraw x", "line 8: raw: nothing is played after reset"},
		{"reset\npause 1s", "line 8: pause: nothing is played after reset"},
		{"await-close\nhangup", "line 8: hangup: nothing is played after await-close"},
		{"pause 1s", "line 5: has no status line"},
		{"repeat", "line 5: answers nothing; add a status, raw or closing line"},
		{"repeat\nhangup\n-- GET /x --\nhangup", "line 9: never played, since the one in line 5 repeats"},
	} {
		_, err := scripted.Parse([]byte(intro + tt.lines + "\n"))
		want := `section "GET /x", ` + tt.want
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v; want %s", tt.lines, err, want)
		}
	}
}

func TestParseErrorsOfNames(t *testing.T) {
	for archive, want := range map[string]string{
		"-- GET --\n":                       `section "GET", line 1: the name must be a method and a target, or begin with "file:"`,
		"-- file:a --\n-- file:a --\n":      "file:a: there are two files of this name",
		"x\r\n-- GET /x --\r\nstatus 1\r\n": `section "GET /x", line 3: status: "1" must be a code of three digits`,
	} {
		_, err := scripted.Parse([]byte(archive))
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v; want %s", archive, err, want)
		}
	}
}

// FuzzParse: no archive makes Parse panic, hang or change its mind.
func FuzzParse(f *testing.F) {
	f.Add([]byte("-- POST /v1/* --\nexpect-body-file f\nstatus 200 OK\nheader A: b\nchunk-size 99 x\ntrailer A: b\nend\n-- file:f --\nx\n"))
	f.Add([]byte("-- * * --\nrepeat\nearly\nslow-read 1 1ms\ninterim 103 E\nflush\nread-body\nstatus 200 \"\\x00\"\nbody a\npause 1s\nhangup\n"))
	f.Add([]byte("-- GET /x --\nstop-reading\nraw-size 1000000000\nawait-close\n"))
	f.Add([]byte("-- --"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		before := string(archive)
		_, err := scripted.Parse(archive)
		if string(archive) != before {
			t.Fatal("Parse changed its input")
		}
		_, again := scripted.Parse(archive)
		if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
			t.Fatalf("first %v, then %v", err, again)
		}
		if err != nil && !strings.Contains(err.Error(), "line ") && !strings.Contains(err.Error(), filePrefix) {
			t.Fatalf("no place in the error %v", err)
		}
	})
}

const filePrefix = "file:"

// The example in the package doc plays as the doc says.
func TestDocumentedExample(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var archive strings.Builder
	for line := range strings.Lines(string(doc)) {
		if text, ok := strings.CutPrefix(line, "//\t-- "); ok {
			archive.WriteString("-- " + text)
		} else if text, ok := strings.CutPrefix(line, "//\t"); ok && archive.Len() > 0 {
			archive.WriteString(text)
		} else if archive.Len() > 0 {
			break
		}
	}
	u := scriptedtest.Start(t, archive.String())
	c := dial(t, u, "POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"stream\":true}\n")
	hear(t, c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nf\r\ndata: {\"n\":1}\n\n\r\n")
	u.Release("more")
	hear(t, c, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
}
