package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"epitome/internal/unit"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
	"epitome/summarize/prose"
)

// InputOf is how an exchange with these headers would have the conversation in body shaped, on its way to the
// upstream of the given name; without a name, to the one that requests for its model go to. The body is in the
// dialect d. Nobody waits for the result. The error says what to write instead.
func (p *Proxy) InputOf(d conversation.Dialect, h http.Header, upstream string, body []byte) (rewrite.Input, error) {
	set := p.settings.Load()
	up := set.table.Fallback
	if upstream != "" {
		var err error
		if up, err = set.table.LookUp(upstream); err != nil {
			return rewrite.Input{}, err
		}
	} else if set.table.HasRoutes() {
		up = set.table.ForModel(modelOf(body))
	}
	var block bytes.Buffer
	_ = h.Write(&block) // a buffer takes everything
	whose, err := set.clients.Find(block.Bytes())
	if err != nil {
		return rewrite.Input{}, err
	}
	var a rewrite.Input
	err = p.wishes(&a, set, block.Bytes(), whose.Name())
	a.Dialect, a.Body, a.Upstream = d, body, up.Name
	return a, err
}

// wishes puts into a what the headers of a request ask of the ladder, and who may share facts with it. A preset comes
// before numbers, wherever it stands.
func (p *Proxy) wishes(a *rewrite.Input, set *settings, block []byte, client string) error {
	a.Limits, a.SummaryMode = &set.conf.Limits, set.conf.SummaryMode
	for _, presets := range [...]bool{true, false} {
		for l := wire.LinesOf(block); l.Next(); {
			if !wire.IsOwn(l.Name) || l.Is(wire.OwnPrefix+"preset") != presets || set.asksNothing(l) {
				continue
			}
			if l.Is(wire.OwnPrefix + "context") {
				a.Contexts = append(a.Contexts, namesIn(string(l.Value))...)
				continue
			}
			if err := heed(a, string(l.Name[len(wire.OwnPrefix):]), string(l.Value)); err != nil {
				return err
			}
		}
	}
	if err := a.Limits.CheckShares(); err != nil && set.conf.Limits.CheckShares() == nil {
		return err
	}
	for _, name := range a.Contexts {
		if !p.plugs.Keeps(name) {
			return fmt.Errorf("cannot use %scontext: nothing is kept under the name %.40q; 'epitome context list' has the names",
				wire.OwnPrefix, name)
		}
	}
	a.Scope = p.scope(set, block, client)
	return nil
}

// namesIn are the names in a list with commas.
func namesIn(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// errNotNow is the answer to any other value: one that means no must not be taken for yes.
var errNotNow = errors.New("cannot use " + wire.OwnPrefix + "compact: write now, or leave it out")

// heed puts into a what one header asks for.
func heed(a *rewrite.Input, name, value string) error {
	switch strings.ToLower(name) {
	case "compact":
		if a.Compact = value == "now"; !a.Compact {
			return errNotNow
		}
	case "project":
		if err := CheckProject(value); err != nil {
			return fmt.Errorf("cannot use %sproject: %w", wire.OwnPrefix, err)
		}
		a.Project = value
	case "preset":
		l := *a.Limits
		if err := l.SetPreset(value); err != nil {
			return fmt.Errorf("cannot use %spreset: %w", wire.OwnPrefix, err)
		}
		a.Limits = &l
	case "set":
		return set(a, value)
	default:
		return unknown("header "+wire.OwnPrefix+"%.60s", name, headers[:])
	}
	return nil
}

// headers are those by which a request asks for something.
var headers = [...]string{wire.OwnPrefix + "mode", wire.OwnPrefix + "preset", wire.OwnPrefix + "compact",
	wire.OwnPrefix + "context", wire.OwnPrefix + "project", wire.OwnPrefix + "set"}

// set puts into a what x-epitome-set asks for: name=value, name=value.
func set(a *rewrite.Input, list string) error {
	for pair := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "" && value == "" {
			continue
		}
		key := strings.ReplaceAll(strings.ToLower(name), "-", "_")
		known, err := true, error(nil)
		if key == prose.ModeKey {
			a.SummaryMode, err = prose.ParseMode(value)
		} else {
			var l ladder.Limits
			l, known, err = a.Limits.With(key, value)
			a.Limits = &l
		}
		if !known {
			return unknown("name %.60s in "+wire.OwnPrefix+"set", key, append(ladder.Names(), prose.ModeKey))
		}
		if err != nil {
			return fmt.Errorf("cannot use %s in %sset: %w", key, wire.OwnPrefix, err)
		}
	}
	return nil
}

// unknown says that nothing has the name, which what tells of, and which of the known names may have been meant.
func unknown(what, name string, known []string) error {
	name = strings.ToLower(name)
	advice, least := "write one of "+strings.Join(known, ", "), 4 // so many letters are too many to be wrong
	for _, k := range known {
		short := strings.TrimPrefix(k, wire.OwnPrefix)
		if n := unit.Distance(name, short); n < least && n < len(short)-1 {
			advice, least = "did you mean "+k+"?", n
		}
	}
	return fmt.Errorf("unknown "+what+"; %s", name, advice)
}

// asksNothing reports whether a header that is for epitome says something else than how to shape.
func (s *settings) asksNothing(l wire.Lines) bool {
	scope, _ := strings.CutPrefix(strings.ToLower(s.conf.Scope), "header:")
	return l.Is(wire.OwnPrefix+"mode") || l.Is(scope)
}

// scope names who may share facts with a request: the client whose key it came with, by name, so that a new key keeps
// the conversations of the old one. Without clients, credentials are hashed on the way, all that there are: one more
// scope than needed costs a little, one too few mixes what belongs to different people.
func (p *Proxy) scope(set *settings, block []byte, client string) string {
	kind := set.conf.Scope
	if kind == "shared" || kind == "auto" && client == "" && p.loopback {
		return ""
	}
	name, named := strings.CutPrefix(strings.ToLower(kind), "header:")
	switch {
	case named && client != "": // who writes the header of another one is still this one
		return p.plugs.Scope("client "+client+" header:"+name, string(wire.Values(block, name)))
	case named:
		return p.plugs.Scope("header:"+name, string(wire.Values(block, name)))
	case client != "":
		return p.plugs.Scope("client", client)
	}
	var all []byte
	for _, name := range [...]string{"authorization", "x-api-key", "api-key"} {
		all = wire.AppendField(all, []byte(name), string(wire.Values(block, name)))
	}
	return p.plugs.Scope("credential", string(all))
}
