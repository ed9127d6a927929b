package fakeapi_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/scriptedtest"
)

func TestAScriptIsPlayedToTheByte(t *testing.T) {
	u := scriptedtest.Start(t, `-- POST /x --
expect-header Content-Type: text/plain
expect-body hello
interim 103 Early Hints
header Link: l
status 200 OK
header b: 1
header A:2
chunk hi
event {}
trailer X: 1
end
-- * /y* --
keep-alive off
status 404
body-size 3 z
`)
	c, err := net.Dial("tcp", u.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const first = "POST /x HTTP/1.1\r\nhOST: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	if _, err := io.WriteString(c, first+"GET /yes HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	const want = "HTTP/1.1 103 Early Hints\r\nLink: l\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nb: 1\r\nA:2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\na\r\ndata: {}\n\n\r\n0\r\nX: 1\r\n\r\n" +
		"HTTP/1.1 404 \r\nContent-Length: 3\r\nConnection: close\r\n\r\nzzz"
	if got, err := io.ReadAll(c); string(got) != want || err != nil {
		t.Errorf("got %q (%v)\nwant %q", got, err, want)
	}
	r := u.Requests()
	if len(r) != 2 || string(r[0].Body) != "hello" || r[0].Header[0] != [2]string{"hOST", "h"} || !r[0].Complete {
		t.Errorf("requests %+v", r)
	}
}

func TestWhatGoesAgainstAScriptIsAProblem(t *testing.T) {
	for _, tt := range []struct{ request, want string }{
		{"GET /x HTTP/1.1\r\n\r\n", "A: 1"},
		{"GET /other HTTP/1.1\r\n\r\n", "no section left"},
		{"GET /x HTTP/1.1\nA: 1\n\n", "line without CR"},
		{"GET /x HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "more than one framing"},
	} {
		s, err := fakeapi.Parse([]byte("-- GET /x --\nexpect-header A: 1\nkeep-alive off\nstatus 200\n"))
		if err != nil {
			t.Fatal(err)
		}
		u, err := fakeapi.Start(s)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", u.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, tt.request); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(io.LimitReader(c, 9))
		u.Close()
		_ = c.Close()
		if p := strings.Join(u.Problems(), "; "); !strings.Contains(p, tt.want) {
			t.Errorf("%q: problems %q, want %q", tt.request, p, tt.want)
		}
	}
	for _, bad := range []string{"-- x --\n", "-- GET /x --\nanswer\n", "-- GET /x --\nbody x\n", "-- GET /x --\nhangup\nstatus 200\n"} {
		if _, err := fakeapi.Parse([]byte(bad)); err == nil {
			t.Errorf("%q is a script", bad)
		}
	}
}
