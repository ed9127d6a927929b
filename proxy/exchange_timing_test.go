package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"

	"epitome/proxy/wire"
)

// plainUpstream answers every request with the same bytes, as fast as it can.
func plainUpstream(tb testing.TB, answer []byte) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for br := bufio.NewReaderSize(c, 64<<10); skipRequest(br) == nil; {
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

// skipRequest reads one request with a length.
func skipRequest(br *bufio.Reader) error {
	length := 0
	for {
		line, err := br.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 2 {
			_, err := br.Discard(length)
			return err
		}
		if l := wire.LinesOf(line); l.Next() && l.Is("content-length") {
			if length, err = strconv.Atoi(string(l.Value)); err != nil {
				return err
			}
		}
	}
}

// BenchmarkExchange is the whole way of a request over loopback sockets, client and upstream included.
func BenchmarkExchange(b *testing.B) {
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + string(bytes.Repeat([]byte("x"), 1000)))
	for _, size := range []int{2 << 10, 100 << 10, 800 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			r := startRig(b, plainUpstream(b, answer))
			c, err := net.Dial("tcp", r.addr)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			text := []byte(post("/v1/chat/completions", string(bytes.Repeat([]byte("x"), size)), "Content-Type: application/json",
				"Authorization: Bearer key"))
			got := make([]byte, len(answer))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(text); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, got); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
