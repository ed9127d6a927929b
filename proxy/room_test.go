package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"epitome/internal/unit"
)

// held is how many bytes of the room are taken.
func (r *rig) held() int64 {
	conf, all := r.proxy.settings.Load().conf, r.proxy.rooms
	all.mu.Lock()
	defer all.mu.Unlock()
	return newRooms(int64(conf.MaxInFlight), int64(conf.MaxBody)).free - all.free
}

// isFree reports whether no body has room.
func (r *rig) isFree() bool { return r.held() == 0 && len(r.proxy.rooms.extra) == 0 }

// allGivenBack waits until all room is free.
func (r *rig) allGivenBack() {
	r.tb.Helper()
	r.eventually("all room is given back", r.isFree)
}

// roomy has room for two bodies of 500 KB, beside the one that goes on without.
func roomy(s *Settings) { s.MaxBody, s.MaxInFlight = unit.MB, 4*unit.MB }

var half = strings.Repeat("x", 500_000)

// Promise 10.
func TestBytesInFlightAreBounded(t *testing.T) {
	r := newRig(t, strings.Repeat("-- POST /held --\nearly\nawait go\nread-body\nstatus 200 OK\nbody a\n", 3)+
		"-- POST /b --\nstatus 200 OK\nbody b\nrepeat\n", roomy, func(s *Settings) { s.limits.room = 50 * time.Millisecond })
	var held []*testClient
	for i := range 3 {
		held = append(held, r.dial().send(post("/held", half)))
		r.await(fmt.Sprintf("waiting %d go", i+1))
	}
	resp, text := r.dial().send(post("/b", half)).answer("POST")
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "max_in_flight") {
		t.Errorf("got %s %v %s", resp.Status, resp.Header, text)
	}
	if _, text := r.dial().send(post("/b", "small")).answer("POST"); text != "b" {
		t.Errorf("a small request got %q", text)
	}
	r.upstream.Release("go")
	for _, c := range held {
		c.answer("POST")
	}
	r.allGivenBack()
	// Requests whose body never comes whole give their room back, too.
	r.dial().send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nab").vanish("RST")
	r.allGivenBack()
	if _, text := r.dial().send(post("/b", half)).answer("POST"); text != "b" {
		t.Errorf("afterwards got %q", text)
	}
}

// Uploads that declare much and send little are in nobody's way.
func TestSlowUploadsStopNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- POST /b --\nrepeat\nstatus 200 OK\nbody b\n")
	for range 60 {
		r.dial().send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n" + strings.Repeat("x", 20_000))
	}
	for _, size := range []int{3_000, 200_000, 2_000_000} {
		c := r.dial()
		go func() { _, _ = c.Write([]byte(post("/b", strings.Repeat("x", size)))) }()
		if resp, _ := c.answer("POST"); resp.StatusCode != 200 {
			t.Errorf("a request of %d bytes got %s", size, resp.Status)
		}
	}
	if n := r.held(); n > 0 {
		t.Errorf("%d bytes are held", n)
	}
}

// Bodies that have no room together, with a length or without, wait for each other, and each one is served.
func TestABurstOfBodiesIsServed(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- POST /b --\nrepeat\nstatus 200 OK\nbody b\n", roomy)
	chunked := request("POST", "/b", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(half), half), "Transfer-Encoding: chunked")
	var all []*testClient
	for i := range 24 {
		c, text := r.dial(), post("/b", half)
		if all = append(all, c); i%2 == 0 {
			text = chunked
		}
		go func() { _, _ = c.Write([]byte(text)) }()
	}
	for _, c := range all {
		if resp, _ := c.answer("POST"); resp.StatusCode != 200 {
			t.Errorf("got %s", resp.Status)
		}
	}
	r.allGivenBack()
}

func TestStreamsHoldNoBodyInFlight(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- POST /s --\nrepeat\nstatus 200 OK\nchunk a\nawait go\nend\n", roomy)
	clients := make([]*testClient, 4)
	for i := range clients {
		clients[i] = r.dial().send(post("/s", half))
		r.await(fmt.Sprintf("waiting %d go", i+1))
	}
	r.allGivenBack()
	r.upstream.Release("go")
	for _, c := range clients {
		if resp, _ := c.answer("POST"); resp.StatusCode != 200 {
			t.Errorf("got %s", resp.Status)
		}
	}
}
