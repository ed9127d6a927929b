package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
)

// sentLength is of each rewritten body, in bytes: it is written in many pieces, and the last ones may have to wait.
const sentLength = 2 << 20

// poison is what a buffer is filled with when it is lent again.
const poison = '#'

// pure is an upstream that demands that every body consists of one letter, which the request names, and that then does
// what the request asks for.
type pure struct {
	tb     testing.TB
	ln     net.Listener
	impure atomic.Int64
	bodies atomic.Int64 // that came whole
}

func startPure(tb testing.TB) *pure {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	u := &pure{tb: tb, ln: ln}
	tb.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go u.serve(conn)
		}
	}()
	return u
}

func (u *pure) serve(conn net.Conn) {
	defer conn.Close()
	br := bufio.NewReaderSize(conn, 4<<10)
	for {
		q, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		letter, kind := q.Header.Get("X-Letter"), q.Header.Get("X-Kind")
		part := int64(sentLength)
		if kind == "early" || kind == "cut request" {
			part = sentLength / 3
		}
		foreign := func(b []byte) bool { return bytes.Count(b, []byte(letter)) != len(b) }
		if kind == "panic" { // it goes as it came
			foreign = func(b []byte) bool { return bytes.IndexByte(b, poison) >= 0 }
		}
		if !u.take(io.LimitReader(q.Body, part), foreign) {
			return
		}
		switch kind {
		case "early":
			_, _ = io.WriteString(conn, "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno")
			return
		case "cut request":
			return
		case "cut answer":
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nno")
			return
		case "refused":
			if q.ContentLength >= sentLength {
				fmt.Fprintf(conn, "HTTP/1.1 400 No\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(tooLong), tooLong)
				continue
			}
		}
		_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		if err != nil || kind == "stale" {
			return
		}
	}
}

// take reads a body. It reports whether it came to its end, and counts the pieces that are foreign.
func (u *pure) take(body io.Reader, foreign func([]byte) bool) bool {
	piece := make([]byte, 32<<10)
	for {
		n, err := body.Read(piece)
		if foreign(piece[:n]) {
			u.impure.Add(1)
		}
		if err == io.EOF {
			u.bodies.Add(1)
			return true
		}
		if err != nil {
			return false
		}
	}
}

// lettered makes of a conversation a body of the letter that it begins with, in memory that is lent.
func lettered(tb testing.TB, lent *atomic.Int64) shaper {
	return func(a rewrite.Input) rewrite.Output {
		_, said, _ := strings.Cut(string(a.Body), `"content":"`)
		letter, n := []byte(said[:1]), sentLength
		var body []byte
		switch {
		case a.Rescue != nil && a.Lend != nil:
			tb.Error("a rescue is lent memory in which the form lies that was refused")
		case a.Rescue != nil:
			n /= 2
		default:
			if body = a.Lend(n); body != nil {
				copy(body[:cap(body)], bytes.Repeat([]byte{poison}, cap(body)))
				lent.Add(1)
			}
		}
		body = append(body, bytes.Repeat(letter, n)...)
		if said[1] == '!' {
			panic("behind the loan")
		}
		r := rewrite.Report{Action: rewrite.ActionClear, Model: "m", Conversation: "c", Window: 1_000_000,
			Usable: 990_000, Items: 1,
			Before: conversation.Size{User: 10_000}, After: conversation.Size{User: 10_000}}
		if a.Rescue != nil {
			r.Stage, r.After = a.Rescue.From+1, conversation.Size{User: a.Rescue.Most}
		}
		return rewrite.Output{Body: body, Changed: true, Report: r}
	}
}

// What is lent again is overwritten first: whoever still read it would send it.
func TestNoBodyHasAnythingOfAnotherInIt(t *testing.T) {
	t.Parallel()
	u := startPure(t)
	r := startRig(t, "http://"+u.ln.Addr().String(), func(s *Settings) { s.Mode = event.ModeOn })
	var lent atomic.Int64
	r.shapes(lettered(t, &lent))
	kinds := []string{"whole", "early", "cut request", "cut answer", "refused", "stale", "leaves", "panic"}
	const workers, turns = 8, 16
	var working sync.WaitGroup
	var lost atomic.Int64
	for w := range workers {
		working.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for i := range turns {
				kind := kinds[(w+i)%len(kinds)]
				letter := string(rune('a' + (w*turns+i)%26))
				if exchangeLettered(t, r.addr, letter, kind, rng) == http.StatusBadGateway {
					lost.Add(1)
				}
			}
		})
	}
	working.Wait()
	r.eventually("every exchange to end", func() bool { return r.proxy.InFlight() == 0 })
	if n := u.impure.Load(); n > 0 {
		t.Errorf("%d pieces of bodies had something of another one in them", n)
	}
	// A server that closes behind its answer may have taken in all of a request that came on that connection meanwhile.
	// Nobody knows whether that arrived, so it is not sent again.
	if stale := int64(workers * turns / len(kinds)); lost.Load() > stale/4 {
		t.Errorf("%d requests were lost to the %d connections that their server closed", lost.Load(), stale)
	}
	if lent.Load() < workers*turns*3/4 || u.bodies.Load() < workers*turns/4 {
		t.Errorf("%d bodies were in lent memory and %d came whole: this shows little", lent.Load(), u.bodies.Load())
	}
}

// exchangeLettered has one exchange of that kind, and returns the status of one that should go well. A client that
// leaves does so at any moment.
func exchangeLettered(t *testing.T, addr, letter, kind string, rng *rand.Rand) (status int) {
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer conn.Close()
	said := letter + "."
	if kind == "panic" {
		said = letter + "!"
	}
	body := `{"model":"m","messages":[{"role":"user","content":"` + said + strings.Repeat(" ", 1000) + `"}]}`
	_, _ = io.WriteString(conn, "POST "+chatTarget+" HTTP/1.1\r\nHost: x\r\nX-Letter: "+letter+"\r\nX-Kind: "+kind+
		"\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	if kind == "leaves" {
		for range rng.IntN(1 << 20) { // any moment; nothing is measured
			_ = rng.Uint64()
		}
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%s: %v", kind, err)
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if kind != "whole" && kind != "refused" && kind != "stale" {
		return 0
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusBadGateway {
		t.Errorf("%s: status %d", kind, resp.StatusCode)
	}
	return resp.StatusCode
}
