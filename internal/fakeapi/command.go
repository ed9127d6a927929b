package fakeapi

import (
	"errors"
	"fmt"
	"strings"
)

// builder turns the lines of one section into checks and steps.
type builder struct {
	sec   *section
	files archiveFiles
	line  int // of the command being read

	head     *head // takes header lines; nil after any other played line
	final    *head // the one of status
	noLength bool

	bodies, chunks, raws int // how many lines of each
	bodySize             int // of all body lines
	trailers             []byte
	ended                bool   // the last chunk is written
	closing              string // the command that ended the section
}

// command reads one line. Every group of commands says whether the verb is one of its own.
func (b *builder) command(text string) error {
	verb, arg, _ := strings.Cut(text, " ")
	arg = strings.TrimSpace(arg)
	groups := []func(verb, arg string) (bool, error){
		b.expectation, b.manner, b.headLine, b.content, b.wait, b.closingLine,
	}
	for _, group := range groups {
		if ok, err := group(verb, arg); ok || err != nil {
			return wrap(verb, err)
		}
	}
	return fmt.Errorf("unknown command %q", verb)
}

func wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", verb, err)
}

func (b *builder) expectation(verb, arg string) (bool, error) {
	switch verb {
	case "expect-header":
		name, value, _, err := parseField(arg)
		b.checkHead(wantHeader(name, value))
		return true, err
	case "expect-no-header":
		if arg == "" {
			return true, errors.New("needs a name")
		}
		b.checkHead(wantNoHeader(arg))
		return true, nil
	case "expect-body", "expect-body-file":
		form := strings.TrimPrefix(strings.TrimPrefix(verb, "expect-body"), "-")
		p, err := b.files.payload(form, arg)
		b.checkBody(wantBody(p.text))
		return true, err
	case "expect-body-size":
		n, err := parseSize(arg)
		b.checkBody(wantBodySize(n))
		return true, err
	}
	return false, nil
}

func (b *builder) checkHead(judge func(*Request) string) {
	b.sec.headChecks = append(b.sec.headChecks, check{b.line, judge})
}

func (b *builder) checkBody(judge func(*Request) string) {
	b.sec.bodyChecks = append(b.sec.bodyChecks, check{b.line, judge})
}

// manner reads the lines that say how the section treats the connection.
func (b *builder) manner(verb, arg string) (bool, error) {
	switch verb {
	case "repeat":
		b.sec.repeat = true
		return true, none(arg)
	case "no-length":
		b.noLength, b.sec.closes = true, true
		return true, none(arg)
	case "keep-alive":
		if arg != "off" {
			return true, fmt.Errorf("%q must be off", arg)
		}
		b.sec.closes = true
		return true, nil
	case "early", "stop-reading", "slow-read":
		return true, b.sec.readingLine(verb, arg)
	}
	return false, nil
}

func none(arg string) error {
	if arg != "" {
		return errNoArgument
	}
	return nil
}

// readingLine reads a line that says when or how the body is read.
func (s *section) readingLine(verb, arg string) error {
	if len(s.steps) > 0 {
		return errors.New("must stand before the first played line")
	}
	if verb == "slow-read" {
		return s.slowRead(arg)
	}
	if s.reading != readFirst {
		return errors.New("there is another line on when to read")
	}
	s.reading = readAfter
	if verb == "stop-reading" {
		s.reading = readNever
	}
	return none(arg)
}

func (s *section) slowRead(arg string) error {
	count, pause, _ := strings.Cut(arg, " ")
	n, err := parseSize(count)
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("must read at least 1 byte at a time")
	}
	s.slowBytes = n
	s.slowPause, err = parseWait(strings.TrimSpace(pause))
	return err
}

func (b *builder) headLine(verb, arg string) (bool, error) {
	switch verb {
	case "interim", "status":
		return true, b.startHead(verb, arg)
	case "header":
		if b.head == nil {
			return true, errors.New("must follow interim, status or another header line")
		}
		name, _, field, err := parseField(arg)
		b.head.add(name, field)
		return true, err
	case "flush":
		if b.head == nil {
			return true, errors.New("there is no head to send")
		}
		b.head = nil
		return true, none(arg)
	}
	return false, nil
}

func (b *builder) startHead(verb, arg string) error {
	code, reason, err := parseStatus(arg)
	if err != nil {
		return err
	}
	if verb == "interim" && code > 199 {
		return errors.New("the code must be 1xx")
	}
	if err := b.mayPlay(); err != nil {
		return err
	}
	if b.final != nil {
		return errors.New("the status is already given")
	}
	h := &head{code: code, label: fmt.Sprintf("%s %d", verb, code)}
	h.lines = fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n", code, reason)
	if verb == "status" {
		h.label = fmt.Sprintf("head %d", code)
		b.final = h
	} else if code == 100 {
		b.sec.sendsContinue = true
	}
	b.step(func(p *play) error { return p.sendHead(h) })
	b.head = h
	return nil
}

// step adds a played line; it ends the head before it.
func (b *builder) step(do func(*play) error) {
	b.head = nil
	b.sec.steps = append(b.sec.steps, step{b.line, do})
}

// mayPlay reports a line that stands after the end of the section.
func (b *builder) mayPlay() error {
	if b.closing != "" {
		return fmt.Errorf("nothing is played after %s", b.closing)
	}
	return nil
}

// mayAnswer reports content that has no head before it.
func (b *builder) mayAnswer() error {
	if b.final == nil {
		return errors.New("needs a status line before it")
	}
	return b.mayPlay()
}

// send adds a step that writes p between before and after.
func (b *builder) send(label, before string, p payload, after string) {
	b.step(func(pl *play) error {
		out := make([]byte, 0, len(before)+p.size+len(after))
		out = append(p.appendTo(append(out, before...)), after...)
		return pl.c.send(label, out)
	})
}

func (b *builder) content(verb, arg string) (bool, error) {
	verb, form, _ := strings.Cut(verb, "-")
	if form != "" && form != "file" && form != "size" {
		return false, nil
	}
	switch verb {
	case "body", "chunk", "raw":
		p, err := b.files.payload(form, arg)
		if err != nil {
			return true, err
		}
		return true, b.part(verb, p)
	}
	if form != "" {
		return false, nil
	}
	switch verb {
	case "event":
		text, err := parseText(arg)
		if err != nil {
			return true, err
		}
		text = "data: " + text + "\n\n"
		return true, b.part("chunk", payload{text: []byte(text), size: len(text)})
	case "trailer", "end":
		return true, b.endLine(verb, arg)
	}
	return false, nil
}

// part adds a piece of a body, a chunk or raw bytes.
func (b *builder) part(verb string, p payload) error {
	if verb == "raw" {
		b.raws++
		b.send(fmt.Sprintf("raw %d", b.raws), "", p, "")
		return b.mayPlay()
	}
	if err := b.mayAnswer(); err != nil {
		return err
	}
	if verb == "body" {
		b.bodies++
		b.bodySize += p.size
		b.send(fmt.Sprintf("body %d", b.bodies), "", p, "")
		return nil
	}
	if b.ended {
		return errors.New("the last chunk is already sent")
	}
	if p.size == 0 {
		return errors.New("an empty chunk is the last one; say end")
	}
	b.chunks++
	b.send(fmt.Sprintf("chunk %d", b.chunks), fmt.Sprintf("%x\r\n", p.size), p, "\r\n")
	return nil
}

func (b *builder) endLine(verb, arg string) error {
	if err := b.mayAnswer(); err != nil {
		return err
	}
	if b.ended {
		return errors.New("the last chunk is already sent")
	}
	if verb == "trailer" {
		_, _, field, err := parseField(arg)
		b.trailers = append(b.trailers, field+"\r\n"...)
		return err
	}
	b.ended = true
	last := append(append([]byte("0\r\n"), b.trailers...), "\r\n"...)
	b.send("end", "", payload{text: last, size: len(last)}, "")
	return none(arg)
}

func (b *builder) wait(verb, arg string) (bool, error) {
	switch verb {
	case "pause":
		d, err := parseWait(arg)
		b.step(func(p *play) error { return p.pause(d) })
		return true, errors.Join(err, b.mayPlay())
	case "await":
		if arg == "" || strings.ContainsAny(arg, " \t") {
			return true, errors.New("needs a name, one word")
		}
		b.step(func(p *play) error { return p.await(arg) })
		return true, b.mayPlay()
	case "read-body":
		b.step(func(p *play) error { return p.readBody() })
		if b.sec.reading != readAfter {
			return true, errors.New("needs early before it")
		}
		return true, errors.Join(none(arg), b.mayPlay())
	}
	return false, nil
}

func (b *builder) closingLine(verb, arg string) (bool, error) {
	acts := map[string]func(*play) error{
		"hangup":      (*play).hangup,
		"reset":       (*play).reset,
		"await-close": (*play).awaitClose,
		"upgrade":     (*play).echo,
	}
	act, ok := acts[verb]
	if !ok {
		return false, nil
	}
	err := b.mayPlay()
	if verb == "upgrade" {
		err = b.mayAnswer()
	}
	b.closing = verb
	b.step(act)
	return true, errors.Join(err, none(arg))
}
