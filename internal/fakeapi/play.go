package fakeapi

import (
	"errors"
	"fmt"
	"time"
)

// play is one section being played to one request.
type play struct {
	c       *conn
	a       *arrival
	entry   *Request // the same request as the journal keeps it; the journal's lock guards its body
	section *section // nil when the script has none
	isRead  bool     // the body has been read whole
}

// run plays the section and says whether the connection may serve another request.
func (p *play) run() bool {
	if p.section == nil {
		return p.refuse()
	}
	p.judge(p.section.headChecks, &p.a.Request)
	if p.section.reading == readFirst && p.readFailed(p.readBody()) {
		return false
	}
	p.c.in.setRoom(roomForBody)
	if p.section.reading == readNever && !p.a.Complete {
		p.c.in.setRoom(0)
	}
	p.c.in.watch(true)
	for _, step := range p.section.steps {
		if err := step.do(p); err != nil {
			p.reportFailure(step.line, err)
			return false
		}
	}
	p.c.in.watch(false)
	return p.leave()
}

func (p *play) refuse() bool {
	p.section = &section{}
	if p.readFailed(p.readBody()) {
		return false
	}
	why := fmt.Sprintf("there is no section left for %s %s", p.a.Method, p.a.Target)
	if p.c.refuse("599 No Section", why) == nil {
		p.c.hangUp(false)
	}
	return false
}

// leave ends an answered exchange: the body is read if that is still to be done.
func (p *play) leave() bool {
	mayCome := !p.a.continues || p.section.sendsContinue // or else the client may keep the body to itself
	if p.section.reading == readAfter && mayCome && p.readFailed(p.readBody()) {
		return false
	}
	kept := p.isRead || p.a.Complete
	if kept && !p.section.closes && !p.a.last {
		return true
	}
	p.c.hangUp(!kept && p.section.reading != readNever)
	return false
}

// reportFailure reports an error of a step that is a problem.
func (p *play) reportFailure(line int, err error) {
	var problem problemError
	if errors.As(err, &problem) {
		p.c.u.journal.enterProblem("section %s, line %d: %s", p.section, line, problem.why)
	}
}

// readFailed reports an error in reading the body and says whether there is one.
func (p *play) readFailed(err error) bool {
	if err == nil {
		return false
	}
	p.reportFailure(p.section.line, err)
	p.c.refuseMalformed(err)
	return true
}

func (p *play) judge(checks []check, r *Request) {
	for _, c := range checks {
		if wrong := c.judge(r); wrong != "" {
			p.c.u.journal.enterProblem("section %s, line %d: %s", p.section, c.line, wrong)
		}
	}
}

// readBody reads the body unless that is done, and judges it.
func (p *play) readBody() error {
	if p.isRead {
		return nil
	}
	if p.a.continues && !p.a.Complete && p.section.reading == readFirst {
		if err := p.c.send("continue", []byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return err
		}
	}
	b := &bodyReader{in: p.c.in, most: roomForBody, pause: func() error { return nil }}
	if n := p.section.slowBytes; n > 0 {
		b.most = n
		b.pause = func() error { return p.pause(p.section.slowPause) }
	}
	p.c.in.setRoom(b.most)
	trailer, err := b.read(p.a)
	p.c.u.journal.enterBody(p.entry, b.body, trailer, err == nil)
	if err != nil {
		return err
	}
	p.isRead = true
	p.c.in.setRoom(roomForBody)
	p.judge(p.section.bodyChecks, &Request{Body: b.body})
	return nil
}

func (p *play) sendHead(h *head) error {
	return p.c.send(h.label, h.appendTo(nil, p.a.Method))
}

// waitFor waits for a channel to be closed.
func (p *play) waitFor(done <-chan struct{}, what string) error {
	timer := time.NewTimer(longestWait)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-p.c.u.done:
		return errEnded
	case <-timer.C:
		return problemError{fmt.Sprintf("waited %s for %s", longestWait, what)}
	}
}

func (p *play) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.c.u.done:
		return errEnded
	}
}

func (p *play) await(name string) error {
	p.c.u.journal.record("waiting %d %s", p.c.n, name)
	return p.waitFor(p.c.u.signal(name), "Release("+name+")")
}

func (p *play) awaitClose() error {
	p.c.u.journal.record("waiting %d close", p.c.n)
	p.c.in.discard()
	if err := p.waitFor(p.c.in.gone, "the peer to close"); err != nil {
		return err
	}
	p.c.in.report()
	return errClosing
}

func (p *play) hangup() error {
	unread := !p.isRead && !p.a.Complete
	p.c.hangUp(unread && p.section.reading != readNever)
	return errClosing
}

func (p *play) reset() error {
	p.c.reset()
	return errClosing
}

// echo sends back what arrives. The peer's leaving is told after its last bytes.
func (p *play) echo() error {
	p.c.in.watch(false)
	p.c.u.journal.record("upgraded %d", p.c.n)
	idle := time.AfterFunc(longestWait, p.c.in.end)
	defer idle.Stop()
	for {
		got, err := p.c.in.next(roomForBody)
		if errors.Is(err, errEnded) && !p.c.u.isClosed() {
			return problemError{fmt.Sprintf("nothing to echo for %s", longestWait)}
		}
		if err != nil {
			return errClosing
		}
		if err := p.c.write(got, func() { idle.Reset(longestWait) }); err != nil {
			p.c.in.fail(err)
			return errClosing
		}
	}
}
