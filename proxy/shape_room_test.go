package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/internal/unit"
	"epitome/proxy/wire/wiretest"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
)

// takes answers with a body of n bytes in place of any other.
func takes(n int) shaper {
	return func(rewrite.Input) rewrite.Output {
		body := []byte("{" + strings.Repeat(" ", n-2) + "}")
		return rewrite.Output{Body: body, Changed: true, Report: rewrite.Report{Action: string(ledger.StepClear)}}
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
			s.Routes = []RouteRule{{Model: "n*", Upstream: "test"}}
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

// takeTurns takes all turns that there are.
func (r *rig) takeTurns() (taken []turn) {
	for {
		turn, ok := r.proxy.turns.Take(nil, largeBody, 0)
		if !ok {
			return taken
		}
		taken = append(taken, turn)
	}
}

// A client that leaves while its rescue waits for a turn is not waited for.
func TestRescueOfAClientThatLeftIsOver(t *testing.T) {
	r := on(t, refused(400, tooLong)+welcome)
	waits := make(chan struct{})
	r.shapes(func(a rewrite.Input) rewrite.Output {
		r.proxy.turns = newTurns() // the turn that this request has goes back to the others
		r.takeTurns()
		close(waits)
		return climbing(a)
	})
	c := r.dial().send(post(chatTarget, longStory+strings.Repeat(" ", largeBody)))
	<-waits
	c.vanish("close")
	r.event()
	r.allGivenBack()
}
