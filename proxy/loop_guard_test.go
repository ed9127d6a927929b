package proxy

import (
	"strings"
	"testing"
)

const head = "POST /v1 HTTP/1.1\r\nHost: x\r\n\r\n"

func TestOnlyManyEqualRequestsAreMarked(t *testing.T) {
	g := newLoopGuard()
	enter := func(target, body string) *loopPass {
		p := g.Enter(nil, []byte(target), []byte(body))
		return &p
	}
	var under []*loopPass
	for range mostEqual {
		p := enter("/v1", "body")
		if got := string(g.Mark(*p, []byte(head))); got != head {
			t.Fatalf("the head became %q", got)
		}
		under = append(under, p)
	}
	for _, other := range []*loopPass{enter("/v1", "bodx"), enter("/v1", "body "), enter("/v2", "body"), new(loopPass)} {
		if got := string(g.Mark(*other, []byte(head))); got != head {
			t.Errorf("another request is marked: %q", got)
		}
	}
	next := enter("/v1", "body")
	want := strings.TrimSuffix(head, "\r\n") + viaHeader + ": " + g.mark + "\r\n\r\n"
	if got := string(g.Mark(*next, []byte(head))); got != want {
		t.Errorf("the head became %q; want %q", got, want)
	}
	if !g.Returned([]byte("Host: x\r\nEPITOME-Via: other\r\nepitome-VIA: other, "+g.mark+"\r\n")) ||
		g.Returned([]byte(viaHeader+": other\r\n")) || newLoopGuard().Returned([]byte(viaHeader+": "+g.mark+"\r\n")) {
		t.Error("a mark is taken for another one's")
	}
	g.Leave(next)
	g.Leave(under[0])
	g.Leave(under[0]) // which counts once
	if p := enter("/v1", "body"); *p&marks != 0 {
		t.Error("requests that have ended still count")
	} else if p = enter("/v1", "body"); *p&marks == 0 {
		t.Error("a request counts twice when it ends")
	}
}

func TestMarkedRequestsAreMarkedAgain(t *testing.T) {
	g := newLoopGuard()
	p := g.Enter([]byte(viaHeader+": other\r\n"), []byte("/v1"), nil)
	if p&marks == 0 {
		t.Error("what another one has marked goes on without a mark")
	}
}
