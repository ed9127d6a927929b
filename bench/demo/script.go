package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"epitome/bench/sessions"
	"epitome/internal/lazyregexp"
)

// script decides what the model answers. What it needs of an earlier turn it reads in the request, or in the file that
// the request names for it. It remembers what to do next, and nothing that was said.
type script struct {
	seed  uint64
	turns int // of the session
	step  int // how many answers it has given
	task  int // how many packages it has begun
	queue []move
	hunt  *probe // the question that it has to answer; nil for none
	dug   bool   // it has searched artifacts for hunt
	over  bool   // it has said that it is done
}

// move makes one answer; it returns nil if there is nothing to do.
type move func(v *view) *message

// Tools of the agent.
const (
	readTool   = "read_file"
	searchTool = "grep"
	editTool   = "edit_file"
	writeTool  = "write_file"
	shellTool  = "bash"
	webTool    = "http_request"
)

// closing is how many turns the end of a session takes.
const closing = 5

// answer returns what the model says to a request of the session.
func (s *script) answer(v *view) *message {
	s.step++
	last := v.messages[len(v.messages)-1]
	if last.Role == "user" {
		s.hunt, s.dug = probeIn(string(last.Content)), false
	}
	switch {
	case s.hunt != nil:
		return s.search(v)
	case s.step == 1:
		return says("Before I begin: is there a rule that I have to keep to?")
	case s.step > s.turns-closing && !s.over:
		s.over, s.queue = true, nil
		return says("Done: the packages up to here agree with the ledger to the cent.\nNext: the release.")
	}
	for {
		if len(s.queue) == 0 {
			s.queue = s.work(taskAt(s.task))
			s.task++
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		if m := next(v); m != nil {
			return m
		}
	}
}

// work returns how the model goes about one package.
func (s *script) work(t task) []move {
	moves := []move{
		s.call("Where is it rounded?", searchTool, args{"pattern": t.symbol + `\(`, "path": "."}),
		s.call("The core of the package first.", readTool, args{"path": t.files[0]}),
		s.both(t),
		s.call("A test that shows it.", writeTool, args{"path": t.pkg + "/cents_test.go",
			"content": sessions.TestSource(sessions.Dice(s.seed, fmt.Sprintf("test %s %d", t.pkg, t.round)), t.subject())}),
		s.edit(t.files[0], fmt.Sprintf("Tried: rounding late in %s, before the sum.", t.files[0])),
		s.call("", shellTool, args{"command": "make test PKG=" + t.pkg}),
		s.look(t),
		s.edit(t.files[0], fmt.Sprintf("Decision: package %s rounds half to even, once, after the sum.", t.pkg)),
		s.call("Once more what stands there now.", readTool, args{"path": t.files[0]}),
		s.call("", shellTool, args{"command": "make test PKG=" + t.pkg}),
		s.call("What all of it rests on, written anew.", writeTool, args{"path": t.files[1],
			"content": sessions.Source(sessions.Dice(s.seed, "source "+t.files[1]+" anew"), t.subject(), 14)}),
	}
	if t.web {
		moves = append(moves, s.call("Does the service agree?", webTool, args{"method": "GET", "url": t.url()}))
	}
	return append(moves, func(*view) *message {
		return says(fmt.Sprintf("Done: %s; %s no longer drops half a cent, and its tests pass.", t.pkg, t.symbol))
	})
}

type args map[string]any

// call returns a move that calls a tool.
func (s *script) call(words, tool string, a args) move {
	return func(*view) *message { return s.calls(words, tool, a) }
}

func (s *script) calls(words, tool string, list ...args) *message {
	m := says(words)
	for i, a := range list {
		raw, err := json.Marshal(a)
		if err != nil {
			panic("BUG: arguments that are no JSON: " + err.Error())
		}
		c := toolCall{Index: i, ID: fmt.Sprintf("call_%03d%c", s.step, 'a'+i), Type: "function"}
		c.Function.Name, c.Function.Arguments = tool, string(raw)
		m.Calls = append(m.Calls, c)
	}
	return m
}

func says(words string) *message { return &message{Role: "assistant", Content: text(words)} }

// both reads the two smaller files of a package at once.
func (s *script) both(t task) move {
	return func(*view) *message {
		return s.calls("And what it is built on.", readTool, args{"path": t.files[1]}, args{"path": t.files[2]})
	}
}

var assignment = lazyregexp.New(`^\t+\w+ := \w+\.\w+\(.*\)$`)

// edit changes a line of the file that the model sees in the request. If it sees none, it reads the file's beginning.
func (s *script) edit(path, words string) move {
	return func(v *view) *message {
		for i := len(v.messages) - 1; i >= 0; i-- {
			if !answersTo(v, i, path) {
				continue
			}
			for l := range strings.Lines(string(v.messages[i].Content)) {
				if l = strings.TrimRight(l, "\n"); assignment().MatchString(l) {
					return s.calls(words, editTool, args{"path": path, "old_text": l, "new_text": l + " // half to even"})
				}
			}
		}
		return s.calls("I cannot see the file any more.", readTool, args{"path": path, "limit": 60})
	}
}

// answersTo reports whether message i is the result of reading the file.
func answersTo(v *view, i int, path string) bool {
	if v.messages[i].Role != "tool" {
		return false
	}
	for k := i - 1; k >= 0; k-- {
		for _, c := range v.messages[k].Calls {
			if c.ID == v.messages[i].Answers {
				return c.Function.Name == readTool && strings.Contains(c.Function.Arguments, `"`+path+`"`)
			}
		}
	}
	return false
}

// look finds out how a test failed, if the log that was sent does not say it.
func (s *script) look(t task) move {
	return func(v *view) *message {
		p := failureOf(t)
		if p.in(v) != "" {
			return nil
		}
		return s.dig(v, p, "The log does not show how it failed; the rest of it was put aside.")
	}
}

// search answers a question from the request, or else from the artifacts that it names.
func (s *script) search(v *view) *message {
	found := s.hunt.in(v)
	switch {
	case found == "" && !s.dug:
		if m := s.dig(v, s.hunt, "That is not before me any more. I look where it was put aside."); m != nil {
			s.dug = true
			return m
		}
		fallthrough
	case found == "":
		found = "nowhere to be found"
	}
	q := s.hunt
	s.hunt = nil
	return says(fmt.Sprintf("%s: %s.", q.label, found))
}

// put matches a file or a URL that epitome names because it has put something there.
var put = lazyregexp.New(`\s((?:/|[A-Za-z]:)[^\n\]:,\x60]*?[a-z2-7]{26}\.txt|https?://[^\s\]\x60]*?[a-z2-7]{26}\b)`)

// grouped is what the pattern's group has in each of its matches.
func grouped(p *regexp.Regexp, text string) (all []string) {
	for _, at := range p.FindAllStringSubmatchIndex(text, -1) {
		all = append(all, text[at[2]:at[3]])
	}
	return all
}

// mostPlaces bounds the artifacts that one call searches.
const mostPlaces = 6

// dig greps artifacts: those that speak of what is looked for, and the transcripts that a summary names; nil if there
// is none.
func (s *script) dig(v *view, p *probe, words string) *message {
	var near, transcripts []string
	for i := len(v.messages) - 1; i >= 0; i-- {
		for l := range strings.Lines(string(v.messages[i].Content)) {
			to := &near
			if strings.HasPrefix(l, "[end of summary ") {
				to = &transcripts
			} else if !strings.HasPrefix(l, "[epitome: ") || !strings.Contains(l, p.hint) && i < len(v.messages)-1 {
				continue
			}
			*to = append(*to, grouped(put(), l)...)
		}
	}
	paths := append(near[:min(len(near), mostPlaces)], transcripts...)
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	return s.calls(words, searchTool,
		args{"pattern": p.pattern.String(), "path": strings.Join(slices.Compact(paths), "\n")})
}
