package demo

import (
	"fmt"
	"strings"

	"epitome/internal/lazyregexp"
)

// Report is what happened in a session. Tokens are the model's, as it has counted them.
type Report struct {
	Window       int        `json:"window"`
	Mode         string     `json:"mode"` // that epitome ran in; empty is on
	Seed         uint64     `json:"seed"`
	Asked        int        `json:"asked"`  // turns
	Failed       string     `json:"failed"` // what ended the session before its time; empty if nothing did
	Died         int        `json:"died"`   // the turn that ends the session without epitome; 0 if none does
	DiedOf       string     `json:"died_of"`
	UserMessages int        `json:"user_messages"`
	Calls        int        `json:"calls"`
	Raw          Load       `json:"raw"` // of the requests as the agent sent them
	Sent         Load       `json:"sent"`
	Refused      int        `json:"refused"` // requests from epitome that the model refused
	Compactions  int        `json:"compactions"`
	Summaries    Asking     `json:"summaries"` // what epitome has asked the model
	Extended     int        `json:"extended"`  // requests that hold the one before byte for byte
	Unexplained  int        `json:"unexplained"`
	MostOff      int        `json:"most_off"` // tokens by which epitome's own count of a request differed
	Restart      *Restart   `json:"restart"`
	ReadBack     int        `json:"read_back"` // turns before which the agent read what had been taken out
	Questions    []Question `json:"questions"`
	Excerpt      *Excerpt   `json:"excerpt"`  // the shortest one; nil if there was none
	Mistakes     []string   `json:"mistakes"` // calls that the world could not do
	Kept         Kept       `json:"kept"`
	Turns        []Turn     `json:"turns"`
}

// Turn is one request of the agent.
type Turn struct {
	Turn     int       `json:"turn"`
	Did      string    `json:"did"`  // what the agent has added
	Sent     int       `json:"sent"` // tokens, as the agent sent it
	Got      int       `json:"got"`  // tokens, as the model got it
	Cached   int       `json:"cached"`
	Action   string    `json:"action"`  // as epitome tells it
	Extends  bool      `json:"extends"` // it holds the request before byte for byte
	Steps    []Step    `json:"steps,omitempty"`
	ReadBack bool      `json:"read_back,omitempty"`
	Summary  *Asking   `json:"summary,omitempty"`
	Asked    bool      `json:"asked,omitempty"`    // the user asks about an earlier turn
	Question *Question `json:"question,omitempty"` // what the user asked, once it is answered
}

// Excerpt is what the model got in place of a large result.
type Excerpt struct {
	Turn   int    `json:"turn"`
	Before int    `json:"before"` // tokens
	After  int    `json:"after"`
	Text   string `json:"text"`
}

// Load is what many requests come to.
type Load struct {
	Requests int     `json:"requests"`
	Tokens   int     `json:"tokens"`
	Cached   int     `json:"cached"` // of Tokens
	Largest  int     `json:"largest"`
	Cost     float64 `json:"cost"` // in tokens at the full price
}

// cachedPrice is the price of a token that the prompt cache holds, where one that it does not hold costs 1. It is that
// of the large providers.
const cachedPrice = 0.1

func (l *Load) add(tokens, cached int) {
	l.Requests++
	l.Tokens, l.Cached, l.Largest = l.Tokens+tokens, l.Cached+cached, max(l.Largest, tokens)
	l.Cost += float64(tokens-cached) + cachedPrice*float64(cached)
}

// Asking is what summaries cost.
type Asking struct {
	Requests int `json:"requests"`
	Input    int `json:"input"`
	Cached   int `json:"cached"`
	Output   int `json:"output"`
}

func (a *Asking) join(b Asking) {
	*a = Asking{a.Requests + b.Requests, a.Input + b.Input, a.Cached + b.Cached, a.Output + b.Output}
}

func (a Asking) cost() float64 { return float64(a.Input-a.Cached) + cachedPrice*float64(a.Cached) }

// Restart says when epitome was ended and started again, and whether the request before came in the same bytes then.
type Restart struct {
	Turn  int  `json:"turn"`
	Bytes int  `json:"bytes"`
	Equal bool `json:"equal"`
}

// Question is a question of the user's about an earlier turn.
type Question struct {
	Turn     int    `json:"turn"`
	Asked    string `json:"asked"`
	Want     string `json:"want"`
	Got      string `json:"got"`
	ReadBack bool   `json:"read_back"` // the agent had to read the answer in a file
}

// Kept says where the messages of the agent's last request are at the end.
type Kept struct {
	Messages int `json:"messages"`
	Whole    int `json:"whole"` // messages that stand in what the model got
	Aside    int `json:"aside"` // messages that stand in files that it names
	Lost     int `json:"lost"`
	Files    int `json:"files"`
	Bytes    int `json:"bytes"`
}

// settle fills in what is known only at the end.
func (r *Report) settle(s *session) {
	r.Mistakes = append(r.Mistakes, s.world.wrong...)
	if s.last.heard == nil || r.Failed != "" {
		return
	}
	r.Kept.Messages = s.last.messages
	files := r.Kept.open(s.last.heard)
	for i, raw := range s.agent.messages[:s.last.messages] {
		switch m := s.agent.plain[i]; {
		case standsIn(s.last.heard, m, string(raw)):
			r.Kept.Whole++
		case lies(files, m, string(raw)):
			r.Kept.Aside++
		default:
			r.Kept.Lost++
		}
	}
}

// sameAs matches the first line of a transcript, which names the file with the same as JSON.
var sameAs = lazyregexp.New(`^\[[^\n]* of a conversation as text;[^\n]* in ([a-z2-7]{26}\.txt) beside this file\]\n`)

// open reads the files that a request names, and those that they name.
func (k *Kept) open(h *hearing) (files map[string]string) {
	files = map[string]string{}
	for _, m := range h.messages {
		for _, place := range grouped(put(), string(m.Content)) {
			k.read(files, place)
			if same := sameAs().FindStringSubmatch(files[place]); same != nil {
				k.read(files, beside(place, same[1]))
			}
		}
	}
	return files
}

// beside is where a file of this name lies beside another one, or what has it beside a URL.
func beside(at, name string) string { return at[:strings.LastIndexAny(at, `/\`)+1] + name }

// read takes a file in, once. A file that cannot be read holds nothing.
func (k *Kept) read(files map[string]string, name string) {
	if _, twice := files[name]; twice {
		return
	}
	content, err := read(name)
	if err != nil {
		return
	}
	files[name] = string(content)
	k.Files++
	k.Bytes += len(content)
}

// standsIn reports whether a request holds a message: as it is, or with a text behind it.
func standsIn(h *hearing, m *message, raw string) bool {
	for i, there := range h.messages {
		if string(h.asked.Messages[i]) == raw || there.Role == m.Role && m.Role == "user" &&
			strings.HasPrefix(string(there.Content), string(m.Content)+"\n") {
			return true
		}
	}
	return false
}

// lies reports whether a file holds a message: among others in a transcript, or what a result says as a file of its
// own.
func lies(files map[string]string, m *message, raw string) bool {
	for _, content := range files {
		if strings.Contains(content, raw) || m.Role == "tool" && content == string(m.Content) {
			return true
		}
	}
	return false
}

// mostOff is how many tokens a count may be off: where two texts meet, a token may reach over the seam.
const mostOff = 8

// Missed returns what happened and should not have.
func (r *Report) Missed() (all []string) {
	add := func(bad bool, format string, a ...any) {
		if bad {
			all = append(all, fmt.Sprintf(format, a...))
		}
	}
	if r.Failed != "" {
		return []string{fmt.Sprintf("the session died in turn %d: %s", len(r.Turns), r.Failed)}
	}
	add(r.Sent.Largest > r.Window, "a request of %d tokens is larger than the window", r.Sent.Largest)
	add(r.Refused > 0, "the model has refused %s", number(r.Refused, "request"))
	add(r.Unexplained > 0, "%s changed what had been sent, and nothing says why", number(r.Unexplained, "request"))
	add(r.MostOff > mostOff, "a request had %d tokens more or less than epitome told", r.MostOff)
	add(r.Restart == nil || !r.Restart.Equal, "after the restart the last request did not come in the same bytes")
	add(r.Kept.Lost > 0, "of %s, some are neither in the last request nor in a file that it leads to: %d", number(r.Kept.Messages, "message"), r.Kept.Lost)
	for _, q := range r.Questions {
		add(q.Got != q.Want, "the answer in turn %d is wrong: %s: got %s, want %s", q.Turn, q.Asked, q.Got, q.Want)
	}
	for _, m := range r.Mistakes {
		add(true, "a call could not be done: %s", m)
	}
	return all
}
