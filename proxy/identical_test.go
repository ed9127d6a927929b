package proxy

import (
	"bufio"
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
)

// The documented list of what is changed where nothing is rewritten; docs/how-it-works.md has its text. It is all in
// the two functions upstreamMayGet and clientMayGet, which turn what a direct call shows into what a call through the
// proxy must show, to the byte. Whatever differs beyond it fails TestUntouchedMeansIdentical.

// ofOneConnection are the lines that are never passed on, in either direction; nor are those a Connection line names.
var ofOneConnection = []string{
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
	"transfer-encoding", "upgrade",
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
		case name == "te" && slices.Contains(listed(value), "trailers"):
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
		own = "Connection: close\r\n" + own
	}
	return strings.TrimSuffix(head, "\r\n") + own + "\r\n"
}

// eachLine puts every header line of a head through f; an empty result leaves the line out. Names are in lower case.
func eachLine(head string, f func(line, name, value string, ofHop bool) string) string {
	start, rest, _ := strings.Cut(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n")
	all := slices.DeleteFunc(strings.Split(rest, "\r\n"), func(line string) bool { return line == "" })
	hop := slices.Clone(ofOneConnection)
	for _, line := range all {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "connection") {
			hop = append(hop, listed(value)...)
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

// listed are the parts of a comma-separated value, in lower case.
func listed(value string) (all []string) {
	for part := range strings.SplitSeq(strings.ToLower(value), ",") {
		all = append(all, strings.Trim(part, " \t"))
	}
	return all
}

// trial is one request and its answer, to the byte.
type trial struct {
	hops bool // both heads have lines of one connection
	chat bool // it is a conversation, in mode on

	request []byte // as the client sends it
	pieces  []int  // lengths of the client's writes
	closes  bool   // the client asks for the end of the connection
	mode    string // of the proxy
	own     string // header lines that epitome adds

	heads      string // interim ones and the answer's own
	status     string // line of the answer's own
	body       string // of the answer, as it is on the wire
	untilClose bool   // the body ends where the connection does
	hangsUp    bool
	parts      []int // lengths of the upstream's writes
}

func TestUntouchedMeansIdentical(t *testing.T) {
	t.Parallel()
	r := startRig(t, "http://127.0.0.1:1")
	rapid.Check(t, func(t *rapid.T) { drawTrial(t).compare(t, r) })
}

// compare makes the call directly and through the proxy.
func (c *trial) compare(t *rapid.T, r *rig) {
	up := listening(t, func(u *call) {
		u.send(split(c.heads+c.body, c.parts)...)
		if c.hangsUp {
			u.hangUp()
		}
	})
	defer func() { _ = up.Close() }()
	r.reload(func(s *Settings) { s.Mode, s.Upstreams = c.mode, map[string]UpstreamConfig{"test": {URL: up.url()}} })
	directHeads, directBody := c.make(t, up.addr())
	heads, body := c.make(t, r.addr)
	got := up.requests()
	if len(got) != 2 {
		t.Fatalf("of %q the upstream got %d requests, want 2; the client got %q", c.request, len(got), heads+body)
	}
	if want := upstreamMayGet(got[0].head, up.addr(), len(got[0].body)); got[1].head != want {
		t.Fatalf("of %q the upstream got\n%q, want\n%q", c.request, got[1].head, want)
	}
	if got[1].body != got[0].body {
		t.Fatalf("of %q the upstream got the body\n%q, want\n%q", c.request, got[1].body, got[0].body)
	}
	want := ""
	for head := range strings.SplitAfterSeq(directHeads, "\r\n\r\n") {
		switch {
		case head == "":
		case strings.HasPrefix(head, c.status):
			want += clientMayGet(head, c.closes || c.untilClose, c.own)
		default:
			want += clientMayGet(head, false, "")
		}
	}
	if heads != want || body != directBody {
		t.Fatalf("the client got\n%q, want\n%q, and the body\n%q, want\n%q", heads, want, body, directBody)
	}
}

// make makes the call at addr and returns all that came back: the heads, and what came behind them up to the end
// of the connection. Once the answer is whole the client ends its side, so that it has to come.
func (c *trial) make(t *rapid.T, addr string) (heads, body string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	for _, piece := range split(string(c.request), c.pieces) {
		if _, err := io.WriteString(conn, piece); err != nil {
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
	var all []byte
	if !c.untilClose {
		if strings.HasPrefix(last, c.status) {
			all = make([]byte, len(c.body))
			n, _ := io.ReadFull(br, all)
			all = all[:n]
		}
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	rest, err := io.ReadAll(br)
	if err != nil {
		t.Fatalf("%v behind %q, answering %q", err, heads+string(all)+string(rest), c.request)
	}
	return heads, string(append(all, rest...))
}

// split cuts text into pieces of the given lengths, as far as it goes, and the rest.
func split(text string, lengths []int) (pieces []string) {
	for _, n := range lengths {
		if n = min(n, len(text)); n > 0 {
			pieces, text = append(pieces, text[:n]), text[n:]
		}
	}
	if text != "" {
		pieces = append(pieces, text)
	}
	return pieces
}

func drawTrial(t *rapid.T) *trial {
	method := drawOf(t, "GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "PROPFIND", "get", "x!#$%&'*+.^_`|~9")
	c := &trial{mode: event.ModeOff, hops: rapid.Bool().Draw(t, "hops"), chat: rapid.Bool().Draw(t, "chat")}
	if c.chat {
		method, c.mode, c.own = "POST", event.ModeOn, "x-epitome-action: none\r\n"
	}
	c.drawRequest(t, method)
	c.drawAnswer(t, method)
	if c.parts = drawLengths(t, 6); rapid.Bool().Draw(t, "small writes") {
		c.pieces = drawLengths(t, 30)
	}
	return c
}

func (c *trial) drawRequest(t *rapid.T, method string) {
	all := insert(t, drawLines(t), "Host", drawOf(t, "x", "api.example:443", "[::1]:1"))
	body := ""
	switch drawOf(t, "none", "empty", "length", "chunked") {
	case "empty":
		all = insert(t, all, "Content-Length", "0")
	case "length":
		body = drawOf(t, "", "{") + drawBytes(t, 1, 5000)
		all = insert(t, all, "Content-Length", strconv.Itoa(len(body)))
	case "chunked":
		body = drawChunks(t)
		all = insert(t, all, "Transfer-Encoding", drawCase(t, "chunked"))
	}
	if c.hops {
		own := []string{"TE: trailers", "te: gzip;q=0.5, trailers", "TE: deflate", "Upgrade: h2c",
			"Proxy-Authorization: Basic eDp5", "X-Epitome-Mode: off", "x-epitome-Set: rent=1"}
		if body != "" {
			own = append(own, "Expect: 100-continue")
		}
		all = drawHops(t, all, own)
	}
	c.closes = saysClose(all)
	if slices.Contains(all, "X-Epitome-Mode: off") {
		c.own = ""
	}
	// A path that begins with // and has :// behind it is refused by fasthttp, which looks for a host there.
	piece := rapid.SampledFrom([]string{"a", "/", "..", "%2F", "%", "%zz", "%00", "?", "=", "#f", ";", "@", "*", "-/",
		"u/", "\\", "\"", "<>", "{}", "|", "^", "`", "'", "\x80", "\xff", "é"})
	target := "/v1" + strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "target"), "")
	if c.chat {
		target = drawOf(t, "", "/v1", "//%2f/..") + drawOf(t, "/chat/completions", "/messages",
			"/messages/count_tokens") +
			drawOf(t, "", "?", "?a=/b")
		if rapid.Bool().Draw(t, "a version") {
			all = insert(t, all, "Anthropic-Version", "2023-06-01")
		}
	}
	c.request = []byte(headOf(method+" "+target+" HTTP/1.1\r\n", all) + body)
}

func (c *trial) drawAnswer(t *rapid.T, method string) {
	code := rapid.OneOf(rapid.Just(200), rapid.IntRange(200, 599), rapid.SampledFrom([]int{204, 304})).Draw(t, "code")
	c.status = fmt.Sprintf("HTTP/1.1 %d %s\r\n", code, drawText(t))
	all := drawLines(t)
	if c.hops {
		all = drawHops(t, all, []string{"Upgrade: h2c", "Proxy-Authenticate: Basic", "TE: trailers"})
	}
	bodiless := method == "HEAD" || code == 204 || code == 304
	switch framing := drawOf(t, "length", "chunked", "close"); {
	case framing == "length":
		if code != 204 {
			c.body = drawBytes(t, 0, 5000)
		}
		all = insert(t, all, "Content-Length", strconv.Itoa(len(c.body)))
	case framing == "chunked" && code != 204:
		c.body = drawChunks(t)
		all = insert(t, all, "Transfer-Encoding", drawCase(t, "chunked"))
	case framing == "close" && !bodiless:
		c.body, c.untilClose = drawBytes(t, 0, 5000), true
	}
	if bodiless {
		c.body = ""
	}
	c.hangsUp = c.untilClose || saysClose(all)
	c.heads = headOf(c.status, all)
	if rapid.IntRange(0, 9).Draw(t, "interim") == 0 {
		c.heads = headOf("HTTP/1.1 103 "+drawText(t)+"\r\n", drawLines(t)) + c.heads
	}
}

func headOf(start string, all []string) string {
	return start + strings.Join(append(all, ""), "\r\n") + "\r\n"
}

// saysClose reports whether a Connection line among the lines says close.
func saysClose(all []string) bool {
	return slices.ContainsFunc(all, func(line string) bool {
		name, value, _ := strings.Cut(line, ":")
		return strings.EqualFold(name, "connection") && slices.Contains(listed(value), "close")
	})
}

func drawOf(t *rapid.T, texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "one") }

// drawLines are header lines that go from end to end; some have the same name, and some are long.
func drawLines(t *rapid.T) (all []string) {
	known := rapid.SampledFrom([]string{"Authorization", "Content-Type", "Content-Encoding", "Cookie", "Set-Cookie",
		"User-Agent", "Server", "Date", "Accept-Encoding", "Range", "Via", "Origin", "Content-MD5", "Retry-After"})
	odd := rapid.StringMatching("[a-zA-Z0-9!#$%&'*+.^_`|~-]{3,12}")
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		value := strings.Repeat(drawText(t), rapid.SampledFrom([]int{1, 1, 1, 50}).Draw(t, "times"))
		all = insert(t, all, rapid.OneOf(known, odd).Draw(t, "name"), value)
	}
	return all
}

// insert puts a header line in any place, with any blanks and in any case.
func insert(t *rapid.T, all []string, name, value string) []string {
	line := drawCase(t, name) + drawOf(t, ":", ": ", ":  ", ":\t") + value + drawOf(t, "", "", " ", "\t ")
	return slices.Insert(all, rapid.IntRange(0, len(all)).Draw(t, "place"), line)
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

// drawText has blanks, tabs and bytes beyond ASCII within.
func drawText(t *rapid.T) string {
	return rapid.StringMatching(`([!-~\x80-\xff][!-~\x80-\xff \t,;:]{0,20}[!-~\x80-\xff])?`).Draw(t, "text")
}

// drawBytes are bytes without a pattern; drawn one by one they would be most of the test's time.
func drawBytes(t *rapid.T, least, most int) string {
	b := make([]byte, rapid.IntRange(least, most).Draw(t, "size"))
	_, _ = rand.NewChaCha8([32]byte{rapid.Byte().Draw(t, "seed")}).Read(b)
	return string(b)
}

// drawChunks is a chunked body with extensions and trailers.
func drawChunks(t *rapid.T) (wire string) {
	size := func(n int) string {
		digits := fmt.Sprintf("%0*x", rapid.IntRange(1, 4).Draw(t, "digits"), n)
		return drawCase(t, digits) + drawOf(t, "", "", ";ext", ";a=b;c=\"d e\"", ";"+strings.Repeat("e", 300)) + "\r\n"
	}
	for _, piece := range split(drawBytes(t, 0, 5000), drawLengths(t, 8)) {
		wire += size(len(piece)) + piece + "\r\n"
	}
	return wire + size(0) + drawOf(t, "", "x-sum: 9\r\n", "X-Sum:1 \r\nx-other: 2\r\n") + "\r\n"
}

func drawLengths(t *rapid.T, most int) []int {
	return rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 4), rapid.IntRange(1, 900)), 0, most).Draw(t, "lengths")
}

// drawHops puts lines of one connection between the others: own, common ones, and Connection lines that name some
// of all the lines. Framing and Host are for every hop, so that naming them changes nothing.
func drawHops(t *rapid.T, all, own []string) []string {
	names := []string{"keep-alive", "close", "X-Gone", "host", "content-length", "transfer-encoding", "TE"}
	for _, line := range all {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	all = insert(t, all, "x-gone", "1")
	for range rapid.IntRange(0, 2).Draw(t, "connection lines") {
		named := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "named")
		all = insert(t, all, "Connection", strings.Join(named, drawOf(t, ",", ", ", " ,\t")))
	}
	own = append(own, "Keep-Alive: timeout=5", "proxy-connection: keep-alive")
	return append(all, rapid.SliceOfNDistinct(rapid.SampledFrom(own), 0, 4, rapid.ID).Draw(t, "of one connection")...)
}
