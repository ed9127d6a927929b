package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/room"
	"epitome/proxy/route"
	"epitome/proxy/turns"
	"epitome/proxy/wire/wiretest"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/unit"
)

// reads is an exchange that only looks into bodies.
func reads(most unit.Bytes) *exchange {
	return &exchange{
		proxy: &Proxy{plugs: Plugs{Dialects: []Dialect{chat.Wire{}}}, decoding: make(turns.Places, 1)},
		set:   &settings{conf: Settings{Config: Config{MaxBody: most}}},
	}
}

// takes answers with a body of n bytes in place of any other.
func takes(n int) shaper {
	return func(rewrite.Input) rewrite.Output {
		body := []byte("{" + strings.Repeat(" ", n-2) + "}")
		return rewrite.Output{Body: body, Changed: true, Report: rewrite.Report{Action: rewrite.ActionClear}}
	}
}

// held is the room that the only request under way has.
func (r *rig) held() (n int64) {
	_, n = r.proxy.admission.Load()
	return n
}

// allGivenBack waits until all room is free.
func (r *rig) allGivenBack() {
	r.tb.Helper()
	a, h := r.proxy.admission, new(fasthttp.RequestHeader)
	all := int64(r.proxy.settings.Load().conf.MaxInFlight)
	for deadline := time.Now().Add(patience); !a.Enter(h, "", all, 0); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.tb.Fatal("some room is not given back")
		}
	}
	a.Leave(h)
}

func TestRewrittenCopiesHaveTheirRoom(t *testing.T) {
	routed := false
	small := func(s *Settings) {
		if s.MaxBody, s.MaxInFlight = unit.KB, 2*unit.KB; routed { // the model is looked for in the body
			s.Routes = []route.Rule{{Model: "n*", Upstream: "test"}}
		}
	}
	body := "{" + strings.Repeat(" ", 798) + "}"
	f := func(name, request string, shape shaper, want int64) {
		t.Run(name, func(t *testing.T) {
			r := on(t, "-- POST * --\nearly\nawait go\nread-body\nstatus 200 OK\nbody a\n-- POST * --\nrepeat\nstatus 200 OK\nbody b\n", small, hurried)
			var within int64
			r.shapes(func(a rewrite.Input) rewrite.Output {
				within = r.held()
				return shape(a)
			})
			c := r.dial().send(request)
			r.await("waiting 1 go")
			if got := r.held(); got != want || within < want {
				t.Errorf("%d bytes are held, and %d were while it was shaped; want %d", got, within, want)
			}
			// What is left is what others can have, and a conversation needs twice its size.
			n := int(2*unit.KB-unit.Bytes(want))/2 + 1
			if resp, text := r.dial().send(post(chatTarget, strings.Repeat("x", n))).answer("POST"); resp.StatusCode != 503 {
				t.Errorf("a conversation of %d bytes more got %s %s", n, resp.Status, text)
			}
			if resp, text := r.dial().send(post("/v1/other", strings.Repeat("x", n))).answer("POST"); resp.StatusCode != 200 {
				t.Errorf("another request of %d bytes got %s %s", n, resp.Status, text)
			}
			r.upstream.Release("go")
			c.answer("POST")
			r.allGivenBack()
		})
	}
	f("unchanged", post(chatTarget, body), whole, 800)
	f("changed", post(chatTarget, body), takes(700), 1500)
	f("chunked", "POST "+chatTarget+" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n320\r\n"+body+"\r\n0\r\n\r\n", takes(700), 1500)
	zipped := string(wiretest.Encode(t, []byte(body), wiretest.Codings[0].Encode))
	f("compressed", post(chatTarget, zipped, "Content-Encoding: gzip"), takes(700), 700+int64(len(zipped)))
	f("compressed and unchanged", post(chatTarget, zipped, "Content-Encoding: gzip"), whole, int64(len(zipped)))
	routed = true
	f("compressed and routed", post(chatTarget, zipped, "Content-Encoding: gzip"), takes(700), 700+int64(len(zipped)))
	f("compressed, routed and unchanged", post(chatTarget, zipped, "Content-Encoding: gzip"), whole, int64(len(zipped)))
}

// What routing has decompressed to find the model is what is shaped, if there was room for it.
func TestCompressedConversationIsDecompressedOnce(t *testing.T) {
	plain := []byte(`{"model":"n1","messages":[]}`)
	zipped := wiretest.Encode(t, plain, wiretest.Codings[0].Encode)
	came, roomy := int64(len(zipped)), int64(1<<20)
	f := func(others, held int64, want []byte, why error) {
		t.Helper()
		x := reads(unit.MB)
		x.proxy.admission, x.ctx = room.New[*fasthttp.RequestHeader](roomy), &fasthttp.RequestCtx{}
		x.event.Mode, x.event.RequestBytes = event.ModeOn, came
		h := &x.ctx.Request.Header
		head := "POST " + chatTarget + " HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n\r\n"
		if err := h.Read(bufio.NewReader(strings.NewReader(head))); err != nil {
			t.Fatal(err)
		}
		x.ctx.Request.SetBody(zipped)
		if a := x.proxy.admission; !a.Enter(&fasthttp.RequestHeader{}, "", others, 0) || !a.Enter(h, "", 2*came, 0) {
			t.Fatal("there is no room to begin with")
		}
		if model := x.model([]byte(chatTarget)); model != "n1" {
			t.Errorf("the model is %q", model)
		}
		if _, got := x.proxy.admission.Load(); got != others+held {
			t.Errorf("after routing %d bytes are held, want %d", got, others+held)
		}
		clear(x.ctx.Request.Body()) // nobody can decompress it again
		if got, err := x.conversation(); !errors.Is(err, why) || !bytes.Equal(got, want) {
			t.Errorf("to be shaped is %q (%v), want %q (%v)", got, err, want, why)
		}
		if _, got := x.proxy.admission.Load(); got != others+held || x.opened != nil {
			t.Errorf("after that %d bytes are held (%v), want %d", got, x.opened, others+held)
		}
	}
	f(0, came+2*int64(len(plain)), plain, nil)
	f(roomy-2*came, 2*came, nil, errNoRoomLeft)
}

func TestConversationWithoutRoomForACopyGoesOnAsItCame(t *testing.T) {
	t.Parallel()
	r := on(t, "-- POST /held --\nearly\nawait go\nread-body\nstatus 200 OK\nbody a\n"+taking, func(s *Settings) { s.MaxBody, s.MaxInFlight = 4*unit.KB, 4*unit.KB })
	r.shapes(refusing(t))
	held := r.dial().send(post("/held", strings.Repeat("x", 2048)))
	r.await("waiting 1 go")
	zipped := string(wiretest.Encode(t, []byte("{"+strings.Repeat(" ", 1500)+"}"), wiretest.Codings[0].Encode))
	r.dial().send(post(chatTarget, zipped, "Content-Encoding: gzip")).expect("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nx-epitome-action: bypass\r\n\r\na")
	if _, body := r.got(); body != zipped {
		t.Errorf("the upstream got %q", body)
	}
	if e := r.event(); e.Action != "bypass" || e.Inner != errNoRoomLeft.Error() || e.Code != event.CodeNoRoom {
		t.Errorf("event %+v", e)
	}
	r.upstream.Release("go")
	held.answer("POST")
	r.allGivenBack()
}

func TestAConversationThatIsLargerThanAllRoomTakesItAll(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) { s.MaxBody, s.MaxInFlight = unit.KB, unit.KB })
	r.shapes(takes(900))
	for range 3 {
		r.dial().send(post(chatTarget, "{"+strings.Repeat(" ", 998)+"}")).answer("POST")
		if _, body := r.got(); len(body) != 900 {
			t.Errorf("the upstream got %d bytes", len(body))
		}
		r.allGivenBack()
	}
}

func TestRewrittenBodyIsFreedWhileItsAnswerStreams(t *testing.T) {
	t.Parallel()
	r := on(t, "-- POST * --\nstatus 200 OK\nchunk a\nawait go\nend\n")
	var copied weak.Pointer[byte]
	r.shapes(func(a rewrite.Input) rewrite.Output {
		s := takes(1 << 20)(a)
		copied = weak.Make(&s.Body[0])
		return s
	})
	c := r.dial().send(post(chatTarget, "{"+strings.Repeat(" ", 2<<20)+"}"))
	c.expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nx-epitome-action: clear\r\n\r\n1\r\na\r\n")
	for deadline := time.Now().Add(patience); copied.Value() != nil; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the rewritten body is still held")
		}
	}
	r.upstream.Release("go")
	c.expect("0\r\n\r\n")
	r.allGivenBack()
}

func TestPlainBodyIsNotCopied(t *testing.T) {
	body := []byte("{}")
	for _, encoding := range []string{"", "identity"} {
		// It has been let in already: the limit does not count here.
		got, err := reads(1).decoded([]byte(encoding), body)
		if err != nil || &got[0] != &body[0] {
			t.Errorf("%q: got %q (%v), want the body itself", encoding, got, err)
		}
	}
}

func TestDecodersLeaveNothingBehind(t *testing.T) {
	noLeaks(t)
	for _, c := range wiretest.Codings {
		whole := wiretest.Encode(t, []byte("a body"), c.Encode, wiretest.Codings[5].Encode)
		for _, body := range [][]byte{whole, whole[:len(whole)/2], nil} {
			_, _ = reads(unit.MB).decoded([]byte(c.Name+", zstd"), body)
			_, _ = reads(unit.MB).decoded([]byte("none, zstd"), body)
		}
	}
}

// Large conversations take turns: one that waits too long is refused, and is not sent as it came. Small ones wait for
// nobody, and who leaves waits no longer.
func TestLargeConversationsTakeTurns(t *testing.T) {
	r := on(t, "-- POST * --\nrepeat\nstatus 200 OK\nbody a\n", func(s *Settings) { s.LargeWait = unit.Duration(20 * time.Millisecond) })
	large := post(chatTarget, "{"+strings.Repeat(" ", turns.Large)+"}")
	r.shapes(func(a rewrite.Input) rewrite.Output {
		if n := r.proxy.turns.Load(); (n > 0) != (len(a.Body) >= turns.Large) {
			t.Errorf("%d have a turn while %d bytes are shaped", n, len(a.Body))
		}
		return whole(a)
	})
	if _, text := r.dial().send(large).answer("POST"); text != "a" {
		t.Errorf("alone a large one got %q", text)
	}
	taken := r.takeTurns()
	r.shapes(whole)
	resp, text := r.dial().send(large).answer("POST")
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "large_wait") {
		t.Errorf("got %s %v %s", resp.Status, resp.Header, text)
	}
	if _, text := r.dial().send(post(chatTarget, "{}")).answer("POST"); text != "a" {
		t.Errorf("a small one got %q", text)
	}
	for k := range taken {
		taken[k].End()
	}
	if _, text := r.dial().send(large).answer("POST"); text != "a" {
		t.Errorf("afterwards a large one got %q", text)
	}
	r.allGivenBack()
	if n := r.proxy.turns.Load(); n != 0 {
		t.Errorf("%d turns are not given back", n)
	}
}

// takeTurns takes all turns that there are.
func (r *rig) takeTurns() (taken []turns.Turn) {
	for {
		turn, ok := r.proxy.turns.Take(nil, turns.Large, 0)
		if !ok {
			return taken
		}
		taken = append(taken, turn)
	}
}

// Who only watches refuses nothing: a large conversation that finds no turn goes as it came.
func TestWatchedConversationGoesWithoutATurn(t *testing.T) {
	r := on(t, "-- POST * --\nrepeat\nstatus 200 OK\nbody a\n", func(s *Settings) {
		s.Mode, s.LargeWait = event.ModeObserve, unit.Duration(time.Millisecond)
	})
	r.takeTurns()
	resp, text := r.dial().send(post(chatTarget, "{"+strings.Repeat(" ", turns.Large)+"}")).answer("POST")
	if resp.StatusCode != 200 || text != "a" {
		t.Errorf("got %s %q", resp.Status, text)
	}
	if e := r.event(); e.Action != "bypass" || e.Inner != errNoTurn.Error() {
		t.Errorf("%+v", e)
	}
}

// A client that leaves while its rescue waits for a turn is not waited for.
func TestRescueOfAClientThatLeftIsOver(t *testing.T) {
	r := on(t, refused(400, tooLong)+welcome, func(s *Settings) { s.LargeWait = unit.Duration(time.Hour) })
	waits := make(chan struct{})
	r.shapes(func(a rewrite.Input) rewrite.Output {
		r.proxy.turns = turns.New() // the turn that this request has goes back to the others
		r.takeTurns()
		close(waits)
		return climbing(a)
	})
	c := r.dial().send(post(chatTarget, longStory+strings.Repeat(" ", turns.Large)))
	<-waits
	c.vanish("close")
	r.event()
	r.allGivenBack()
}
