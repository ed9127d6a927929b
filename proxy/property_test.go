package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/event"
	"epitome/internal/fakeapi"
)

// The documented list of what is changed where nothing is rewritten; docs/transparency.md is its text. It is all in
// the two functions upstreamMayGet and clientMayGet, which turn what a direct call shows into what a call through the
// proxy must show, to the byte. Whatever differs beyond it fails TestUntouchedMeansIdentical.

// ofOneConnection are the lines that are never passed on, in either direction; nor are those a Connection line names.
var ofOneConnection = []string{
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "transfer-encoding", "upgrade",
}

var unversioned = regexp.MustCompile(`^POST (/messages(?:/count_tokens)?[? ])`)

// upstreamMayGet is the head of a request that reached the upstream directly, changed as listed:
//   - what the AI SDK sends to /messages goes to /v1/messages;
//   - Host has the upstream's own value, at the place and in the spelling that the client gave it;
//   - lines of one connection are left out, but TE says what remains of it: trailers;
//   - a chunked body comes with its length, at the place of Transfer-Encoding and without trailers;
//   - Expect is answered here, and x-epitome-* is for epitome.
func upstreamMayGet(direct, host string, size int) string {
	if strings.Contains(strings.ToLower(direct), "\r\nanthropic-version:") {
		direct = unversioned.ReplaceAllString(direct, "POST /v1$1")
	}
	return eachLine(direct, func(line, name, value string, ofHop bool) string {
		switch {
		case name == "host":
			return line[:len(name)] + ": " + host
		case name == "content-length":
			return line
		case name == "transfer-encoding":
			return "Content-Length: " + strconv.Itoa(size)
		case name == "te" && slices.Contains(tokens(value), "trailers"):
			return "TE: trailers"
		case ofHop, name == "expect", strings.HasPrefix(name, "x-epitome-"):
			return ""
		}
		return line
	})
}

// clientMayGet is the head of an answer that reached the client directly, changed as listed:
//   - lines of one connection are left out, but Transfer-Encoding stays: bodies pass with their chunks;
//   - Connection: close ends the head where the client's connection ends with the answer;
//   - behind it stand own, the lines of epitome's own, unless the mode is off.
func clientMayGet(direct string, closes bool, own string) string {
	head := eachLine(direct, func(line, name, _ string, ofHop bool) string {
		if ofHop && name != "transfer-encoding" && name != "content-length" {
			return ""
		}
		return line
	})
	if closes {
		head = strings.TrimSuffix(head, "\r\n") + "Connection: close\r\n\r\n"
	}
	return strings.TrimSuffix(head, "\r\n") + own + "\r\n"
}

// eachLine puts every header line of a head through f; an empty result leaves the line out. Names are in lower case.
func eachLine(head string, f func(line, name, value string, ofHop bool) string) string {
	start, rest, _ := strings.Cut(head, "\r\n")
	all := strings.Split(strings.TrimSuffix(rest, "\r\n"), "\r\n")
	all = all[:len(all)-1] // behind the last line stands nothing
	hop := slices.Clone(ofOneConnection)
	for _, line := range all {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "connection") {
			hop = append(hop, tokens(value)...)
		}
	}
	out := start + "\r\n"
	for _, line := range all {
		name, value, _ := strings.Cut(line, ":")
		name = strings.ToLower(name)
		if line = f(line, name, value, slices.Contains(hop, name)); line != "" {
			out += line + "\r\n"
		}
	}
	return out + "\r\n"
}

// tokens are the parts of a comma-separated value, in lower case.
func tokens(value string) (all []string) {
	for part := range strings.SplitSeq(strings.ToLower(value), ",") {
		all = append(all, strings.Trim(part, " \t"))
	}
	return all
}

// trial is one request and its answer, to the byte.
type trial struct {
	request []byte // as the client sends it
	pieces  []int  // lengths of the client's writes
	closes  bool   // the client asks for the end of the connection
	mode    string // of the proxy
	own     string // header lines that epitome adds

	heads      string // interim ones and the answer's own
	status     string // line of the answer's own
	body       []byte // of the answer, as it is on the wire
	untilClose bool
	hangup     bool
	parts      []int // lengths of the upstream's writes
}

func TestUntouchedMeansIdentical(t *testing.T) {
	t.Parallel()
	r := startRig(t, "http://127.0.0.1:1")
	f := func(name string, s shape) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { compare(t, r, drawTrial(t, s)) })
		})
	}
	f("plain", shape{})
	f("in small writes", shape{split: true})
	f("with lines of one connection", shape{hops: true})
	f("with lines of one connection in small writes", shape{hops: true, split: true})
	f("a conversation that stays as it is", shape{chat: true})
	f("a conversation with lines of one connection in small writes", shape{chat: true, hops: true, split: true})
}

// compare makes the call directly and through the proxy.
func compare(t *rapid.T, r *rig, c *trial) {
	up := c.upstream(t)
	defer up.Close()
	s := testSettings(up.URL())
	s.Mode = c.mode
	if err := r.proxy.Reload(s); err != nil {
		t.Fatal(err)
	}
	directHeads, directBody := c.make(t, up.Addr())
	heads, body := c.make(t, r.addr)
	got := up.Requests()
	if len(got) != 2 || len(up.Problems()) > 0 {
		t.Fatalf("of %q the upstream got %d requests, want 2; problems %q; the client got %q", c.request, len(got), up.Problems(), heads+string(body))
	}
	if want := upstreamMayGet(string(got[0].RawHead), up.Addr(), len(got[0].Body)); string(got[1].RawHead) != want {
		t.Fatalf("of %q the upstream got\n%q, want\n%q", c.request, got[1].RawHead, want)
	}
	if !bytes.Equal(got[1].Body, got[0].Body) {
		t.Fatalf("of %q the upstream got the body\n%q, want\n%q", c.request, got[1].Body, got[0].Body)
	}
	want := ""
	for head := range strings.SplitAfterSeq(directHeads, "\r\n\r\n") {
		if head != "" {
			if !strings.HasPrefix(head, c.status) {
				want += clientMayGet(head, false, "")
				continue
			}
			want += clientMayGet(head, c.closes || c.untilClose, c.own)
		}
	}
	if heads != want {
		t.Fatalf("the client got the head\n%q, want\n%q", heads, want)
	}
	if !bytes.Equal(body, directBody) {
		t.Fatalf("the client got the body\n%q, want\n%q", body, directBody)
	}
}

// upstream answers every request the same way.
func (c *trial) upstream(t rapid.TB) *fakeapi.Upstream {
	script := "-- * * --\nrepeat\n"
	for _, part := range split([]byte(c.heads+string(c.body)), c.parts) {
		script += "raw " + strconv.QuoteToASCII(string(part)) + "\n"
	}
	if c.hangup {
		script += "hangup\n"
	}
	s, err := fakeapi.Parse([]byte(script))
	if err != nil {
		t.Fatalf("%v in\n%s", err, script)
	}
	up, err := fakeapi.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// make makes the call at addr and returns all that came back: the heads, and what came behind them up to the end
// of the connection. Once the answer is whole the client ends its side, so that it has to come.
func (c *trial) make(t *rapid.T, addr string) (heads string, body []byte) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	for _, piece := range split(c.request, c.pieces) {
		if _, err := conn.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	br := bufio.NewReader(conn)
	last := ""
	for interim := true; interim; interim = strings.HasPrefix(last, "HTTP/1.1 1") {
		if last, err = readRawHead(br); err != nil {
			t.Fatalf("%v behind the heads %q, answering %q", err, heads+last, c.request)
		}
		heads += last
	}
	if !c.untilClose {
		if strings.HasPrefix(last, c.status) {
			body = make([]byte, len(c.body))
			n, _ := io.ReadFull(br, body)
			body = body[:n]
		}
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	rest, err := io.ReadAll(br)
	if err != nil {
		t.Fatalf("%v behind %q, answering %q", err, heads+string(body)+string(rest), c.request)
	}
	return heads, append(body, rest...)
}

func readRawHead(br *bufio.Reader) (head string, err error) {
	for !strings.HasSuffix(head, "\r\n\r\n") && err == nil {
		var line string
		line, err = br.ReadString('\n')
		head += line
	}
	return head, err
}

// split cuts b into pieces of the given lengths, as far as it goes, and the rest.
func split(b []byte, lengths []int) (pieces [][]byte) {
	for _, n := range lengths {
		if n = min(n, len(b)); n > 0 {
			pieces, b = append(pieces, b[:n]), b[n:]
		}
	}
	if len(b) > 0 {
		pieces = append(pieces, b)
	}
	return pieces
}

// shape is what a call is to be like.
type shape struct {
	hops  bool // both heads have lines of one connection
	split bool // the client writes in small pieces
	chat  bool // it is a conversation, in mode on
}

func drawTrial(t *rapid.T, s shape) *trial {
	c, method := &trial{parts: drawLengths(t, 6), mode: event.ModeOff}, drawMethod(t)
	if s.chat {
		method, c.mode, c.own = "POST", event.ModeOn, "x-epitome-action: none\r\n"
	}
	c.drawRequest(t, s, method)
	c.drawAnswer(t, s, method)
	if s.split {
		c.pieces = drawLengths(t, 30)
	}
	return c
}

func (c *trial) drawRequest(t *rapid.T, s shape, method string) {
	host := rapid.SampledFrom([]string{"x", "api.example:443", "[::1]:1"}).Draw(t, "host")
	all := insert(t, drawLines(t), drawCase(t, "Host")+": "+host)
	var body []byte
	switch rapid.SampledFrom([]string{"none", "empty", "length", "chunked"}).Draw(t, "request body") {
	case "empty":
		all = insert(t, all, drawCase(t, "Content-Length")+": 0")
	case "length":
		if body = drawBytes(t, 1, 5000); s.chat && rapid.Bool().Draw(t, "an object") {
			body[0] = '{'
		}
		all = insert(t, all, fmt.Sprintf("%s: %d", drawCase(t, "Content-Length"), len(body)))
	case "chunked":
		body = drawChunks(t)
		all = insert(t, all, drawCase(t, "Transfer-Encoding")+": "+drawCase(t, "chunked"))
	}
	if s.hops {
		own := []string{"TE: trailers", "te: gzip;q=0.5, trailers", "TE: deflate", "Upgrade: h2c", "Proxy-Authorization: Basic eDp5",
			"X-Epitome-Mode: off", "x-epitome-Set: rent=1"}
		if len(body) > 0 {
			own = append(own, "Expect: 100-continue")
		}
		all = drawHops(t, all, own)
	}
	c.closes = saysClose(all)
	if slices.Contains(all, "X-Epitome-Mode: off") {
		c.own = ""
	}
	target := drawTarget(t)
	if s.chat {
		target = rapid.SampledFrom([]string{"", "/v1", "//%2f/.."}).Draw(t, "in front") +
			rapid.SampledFrom([]string{"/chat/completions", "/messages", "/messages/count_tokens"}).Draw(t, "path") +
			rapid.SampledFrom([]string{"", "?", "?a=/b"}).Draw(t, "query")
		if rapid.Bool().Draw(t, "a version") {
			all = insert(t, all, drawCase(t, "Anthropic-Version")+": 2023-06-01")
		}
	}
	c.request = append([]byte(headOf(method+" "+target+" HTTP/1.1\r\n", all)), body...)
}

func headOf(start string, all []string) string {
	for _, line := range all {
		start += line + "\r\n"
	}
	return start + "\r\n"
}

func (c *trial) drawAnswer(t *rapid.T, s shape, method string) {
	code := rapid.OneOf(rapid.Just(200), rapid.IntRange(200, 599), rapid.SampledFrom([]int{204, 304})).Draw(t, "code")
	c.status = fmt.Sprintf("HTTP/1.1 %d %s\r\n", code, drawText(t, 20))
	all := drawLines(t)
	if s.hops {
		all = drawHops(t, all, []string{"Upgrade: h2c", "Proxy-Authenticate: Basic", "TE: trailers"})
	}
	framing := rapid.SampledFrom([]string{"length", "chunked", "close"}).Draw(t, "framing")
	bodiless := method == "HEAD" || code == 204 || code == 304
	switch {
	case framing == "length":
		if code != 204 {
			c.body = drawBytes(t, 0, 5000)
		}
		all = insert(t, all, drawSpelling(t, drawCase(t, "Content-Length"), strconv.Itoa(len(c.body))))
	case framing == "chunked" && code != 204:
		c.body = drawChunks(t)
		all = insert(t, all, drawSpelling(t, drawCase(t, "Transfer-Encoding"), drawCase(t, "chunked")))
	case framing == "close" && !bodiless:
		c.body, c.untilClose = drawBytes(t, 0, 5000), true
		if rapid.Bool().Draw(t, "says so") {
			all = insert(t, all, "Connection: close")
		}
	}
	if bodiless {
		c.body = nil
	}
	c.hangup = c.untilClose || saysClose(all)
	c.heads = headOf(c.status, all)
	if rapid.IntRange(0, 9).Draw(t, "interim") == 0 {
		c.heads = headOf("HTTP/1.1 103 "+drawText(t, 5)+"\r\n", drawLines(t)) + c.heads
	}
}

// saysClose reports whether a Connection line among the lines says close.
func saysClose(all []string) bool {
	return slices.ContainsFunc(all, func(line string) bool {
		name, value, _ := strings.Cut(line, ":")
		return strings.EqualFold(name, "connection") && slices.Contains(tokens(value), "close")
	})
}

func drawMethod(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE", "PROPFIND",
		"M-SEARCH", "QUERY", "get", "x!#$%&'*+.^_`|~9",
	}).Draw(t, "method")
}

// drawTarget avoids what is not forwarded to the default upstream, and the one kind of path that fasthttp refuses:
// it looks for a host behind // at the beginning where :// follows anywhere.
func drawTarget(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "v1/", "/", "//", "..", "/./", "%2F", "%2f", "%", "%zz", "%00",
		"?", "&", "=", "#", "#fragment", ";", "+", ",", ":", "@", "*", "-/", "u/",
		"http://h/", "\\", "\"", "<>", "{}", "|", "^", "`", "'", "\x80", "\xe9", "\xff", "é", "\xc2\xa0", "\xe2\x80\xa8",
	}), 0, 12).Draw(t, "target")
	target := "/" + strings.Join(pieces, "")
	refused := strings.HasPrefix(target, "//") && strings.Contains(target, "://")
	if refused || strings.HasPrefix(target, ownPath) || strings.HasPrefix(target, "/u/") {
		return "/v1" + target
	}
	return target
}

// drawLines are header lines that go from end to end.
func drawLines(t *rapid.T) (all []string) {
	n := rapid.IntRange(0, 12).Draw(t, "lines")
	for range n {
		name := ""
		switch rapid.IntRange(0, 3).Draw(t, "kind of name") {
		case 0:
			name = string(rapid.SliceOfN(rapid.SampledFrom([]byte("abcxyzHQZ0189!#$%&'*+-.^_`|~")), 1, 12).Draw(t, "name"))
		case 1:
			name, _, _ = strings.Cut(rapid.SampledFrom(append([]string{"X-A:"}, all...)).Draw(t, "again"), ":")
		default:
			name = rapid.SampledFrom([]string{
				"Authorization", "Content-Type", "Content-Encoding", "Cookie", "Set-Cookie", "User-Agent", "Server", "Date",
				"Accept-Encoding", "Range",
				"X-Request-Id", "X-Forwarded-For", "Via", "Origin", "Referer", "Location", "Cache-Control", "ETag", "Age",
				"Content-MD5", "Retry-After",
			}).Draw(t, "name")
		}
		all = append(all, drawSpelling(t, drawCase(t, name), drawValue(t)))
	}
	return all
}

func drawSpelling(t *rapid.T, name, value string) string {
	blank := rapid.SampledFrom([]string{" ", " ", " ", "", "  ", "\t", " \t "})
	return name + ":" + blank.Draw(t, "before") + value + strings.TrimPrefix(blank.Draw(t, "after"), " ")
}

func drawCase(t *rapid.T, name string) string {
	b, flips := []byte(name), rapid.Uint32().Draw(t, "case")
	for i, ch := range b {
		if flips>>(i%32)&1 == 1 && 'a' <= ch|0x20 && ch|0x20 <= 'z' {
			b[i] = ch ^ 0x20
		}
	}
	return string(b)
}

func drawValue(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
		return strings.Repeat("v"+drawText(t, 5)+"v", rapid.IntRange(1, 200).Draw(t, "times"))
	}
	return strings.Trim(drawText(t, 20), " \t")
}

// drawText has blanks, tabs and bytes beyond ASCII, anywhere.
func drawText(t *rapid.T, most int) string {
	var allowed []byte
	for ch := 0x20; ch <= 0xff; ch++ {
		if ch != 0x7f {
			allowed = append(allowed, byte(ch))
		}
	}
	return string(rapid.SliceOfN(rapid.SampledFrom(append(allowed, "\t  ,,;;::"...)), 0, most).Draw(t, "text"))
}

// drawBytes are bytes without a pattern; drawn one by one they would be most of the test's time.
func drawBytes(t *rapid.T, least, most int) []byte {
	b := make([]byte, rapid.IntRange(least, most).Draw(t, "size"))
	_, _ = rand.NewChaCha8([32]byte{rapid.Byte().Draw(t, "seed")}).Read(b)
	return b
}

// drawChunks is a chunked body with extensions and trailers.
func drawChunks(t *rapid.T) (wire []byte) {
	extensions := rapid.SampledFrom([]string{"", "", "", ";ext", ";a=b;c=\"d e\"", ";" + strings.Repeat("e", 300)})
	size := func(n int) string {
		digits := fmt.Sprintf("%0*x", rapid.IntRange(1, 4).Draw(t, "digits"), n)
		return drawCase(t, digits) + extensions.Draw(t, "extension") + "\r\n"
	}
	for _, piece := range split(drawBytes(t, 0, 5000), drawLengths(t, 8)) {
		wire = append(append(append(wire, size(len(piece))...), piece...), "\r\n"...)
	}
	wire = append(wire, size(0)...)
	for range rapid.IntRange(0, 2).Draw(t, "trailers") {
		wire = append(wire, drawSpelling(t, drawCase(t, "x-sum"), drawValue(t))+"\r\n"...)
	}
	return append(wire, "\r\n"...)
}

func drawLengths(t *rapid.T, most int) []int {
	return rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 4), rapid.IntRange(1, 900)), 0, most).Draw(t, "lengths")
}

// drawHops puts lines of one connection between the others: own, common ones, and Connection lines that name some
// of all the lines. Framing and Host are for every hop, so that naming them changes nothing.
func drawHops(t *rapid.T, all, own []string) []string {
	own = append(own, "Keep-Alive: timeout=5", "proxy-connection: keep-alive")
	names := []string{"keep-alive", "close", "X-Gone", "host", "content-length", "transfer-encoding", "TE"}
	for _, line := range all {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	all = insert(t, all, "x-gone: 1")
	for range rapid.IntRange(0, 2).Draw(t, "connection lines") {
		named := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "named")
		comma := rapid.SampledFrom([]string{",", ", ", " ,\t"}).Draw(t, "comma")
		all = insert(t, all, drawCase(t, "Connection")+": "+strings.Join(named, comma))
	}
	for _, line := range rapid.SliceOfNDistinct(rapid.SampledFrom(own), 0, 4, rapid.ID).Draw(t, "of one connection") {
		all = insert(t, all, line)
	}
	return all
}

func insert(t *rapid.T, all []string, line string) []string {
	return slices.Insert(all, rapid.IntRange(0, len(all)).Draw(t, "place"), line)
}
