package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/dialect/conversation"
	"epitome/internal/unit"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/summarize"
	"epitome/window"
)

// InputOf returns how an exchange with these headers would have the conversation in body shaped, on its way to the
// upstream of the given name; without a name, to the one that requests for its model go to. The body is in the
// dialect d. Nobody waits for the result. The error says what to write instead.
func (p *Proxy) InputOf(d conversation.Dialect, h http.Header, upstream string, body []byte) (rewrite.Input, error) {
	set := p.settings.Load()
	if upstream == "" {
		upstream = set.forModel(modelOf(body)).name
	}
	up, err := set.lookUp(upstream)
	if err != nil {
		return rewrite.Input{}, err
	}
	client, head, err := set.clients.find(linesOf(h))
	if err != nil {
		return rewrite.Input{}, err
	}
	in, err := p.inputFrom(set, head, client)
	in.Dialect, in.Body, in.Upstream = d, body, up.name
	return in, err
}

// linesOf returns a header as it stands in a request's head.
func linesOf(h http.Header) []byte {
	var block bytes.Buffer
	_ = h.Write(&block) // a buffer takes everything
	return block.Bytes()
}

// IsClient reports whether a request with that header has the key of a client; false where keys are not asked for.
func (p *Proxy) IsClient(h http.Header) bool {
	name, _, err := p.settings.Load().clients.find(linesOf(h))
	return err == nil && name != ""
}

// compactValue matches the values of x-epitome-compact, with the tokens to leave and a focus of up to maxFocus
// characters. A count in the expression would delay each start.
var compactValue = regexp.MustCompile(`^now(?:\s*;\s*to=([^;\s]+))?(?:\s*;\s*focus=(.+))?$`)

// ReadCompactTo reads how many tokens a compaction is to leave. The error says what to write.
func ReadCompactTo(text string) (tokens int, err error) {
	var n unit.Tokens
	if err := n.UnmarshalText([]byte(text)); err != nil || n < 1 || n > unit.MostTokens {
		return 0, fmt.Errorf("write a number of tokens as to, such as to=8000 or to=8k, and not %.40q", text)
	}
	return int(n), nil
}

const maxFocus = 1000

// inputFrom reads from the header lines of a request how it is to be shaped, and who may share facts with it. client is
// empty where no keys are asked for. The error says what to write instead.
func (p *Proxy) inputFrom(set *settings, head []byte, client string) (in rewrite.Input, err error) {
	in = set.conf.Input
	limits := *in.Limits
	in.Limits = &limits
	in.Scope = p.scope(set, head, client)
	scope, _ := strings.CutPrefix(strings.ToLower(set.conf.Scope), "header:")
	var numbers []string // which override those of a preset, wherever it stands
	for l := wire.LinesOf(head); l.Next(); {
		if l.Is("anthropic-beta") && bytes.Contains(l.Value, []byte("context-1m-")) {
			in.Variant = window.Million
		}
		if !wire.IsOwn(l.Name) || l.Is(scope) {
			continue
		}
		name, value := strings.ToLower(string(l.Name)), string(l.Value)
		if name == wire.OwnPrefix+"set" {
			numbers = append(numbers, value)
		} else if err := p.setOption(&in, name, value); err != nil {
			return in, err
		}
	}
	for _, list := range numbers {
		if err := setNumbers(&in, list); err != nil {
			return in, err
		}
	}
	if err := limits.CheckShares(); err != nil && set.conf.Input.Limits.CheckShares() == nil {
		return in, err
	}
	return in, nil
}

// setOption sets what one header of epitome's asks for, but for the numbers of x-epitome-set.
func (p *Proxy) setOption(in *rewrite.Input, name, value string) (err error) {
	switch strings.TrimPrefix(name, wire.OwnPrefix) {
	case "mode":
		return nil // checkHead has read it
	case "preset":
		err = in.Limits.SetPreset(value)
	case "compact":
		err = setCompact(in, value)
	case "project":
		in.Project = value
		err = CheckProject(value)
	case "context":
		for name := range strings.FieldsSeq(strings.ReplaceAll(value, ",", " ")) {
			in.Contexts = append(in.Contexts, name)
			if !p.deps.Keeps(name) {
				err = fmt.Errorf("nothing is kept under the name %.40q; 'epitome context list' has the names", name)
			}
		}
	default:
		return fmt.Errorf("unknown header %.70s; write one of x-epitome-mode, x-epitome-preset, "+
			"x-epitome-compact, x-epitome-context, x-epitome-project, x-epitome-set", name)
	}
	if err != nil {
		return fmt.Errorf("cannot use %s: %w", name, err)
	}
	return nil
}

// setCompact sets what x-epitome-compact asks for. A value that means no must not be taken for yes.
func setCompact(in *rewrite.Input, value string) (err error) {
	groups := compactValue.FindStringSubmatch(value)
	if groups == nil || utf8.RuneCountInString(groups[2]) > maxFocus {
		return fmt.Errorf("write now, or now; focus=TEXT of up to %d characters, or now; to=8000, "+
			"or now; to=8000; focus=TEXT", maxFocus)
	}
	to, focus := groups[1], groups[2]
	in.Compact, in.Focus = true, focus
	if to != "" {
		in.CompactTo, err = ReadCompactTo(to)
	}
	return err
}

// setNumbers sets the numbers that x-epitome-set lists: name=value, name=value.
func setNumbers(in *rewrite.Input, list string) error {
	for pair := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "" && value == "" {
			continue
		}
		key := strings.ReplaceAll(strings.ToLower(name), "-", "_")
		known, err := setNumber(in, key, value)
		if !known {
			return fmt.Errorf("unknown name %.60s in %sset; write one of %s", key, wire.OwnPrefix,
				strings.Join(append(in.Limits.Names(), summarize.ModeKey, summarize.DetailKey), ", "))
		}
		if err != nil {
			return fmt.Errorf("cannot use %s in %sset: %w", key, wire.OwnPrefix, err)
		}
	}
	return nil
}

func setNumber(in *rewrite.Input, key, value string) (known bool, err error) {
	switch key {
	case summarize.ModeKey:
		in.SummaryMode, err = summarize.ParseMode(value)
		return true, err
	case summarize.DetailKey:
		in.SummaryDetail, err = summarize.ParseDetail(value)
		return true, err
	}
	*in.Limits, known, err = in.Limits.With(key, value)
	return known, err
}

// CheckProject says why a name cannot be a project's.
func CheckProject(name string) error {
	isOdd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
	if name == "" || utf8.RuneCountInString(name) > 200 || strings.ContainsFunc(name, isOdd) {
		return errors.New("write a name of 1 to 200 characters on one line")
	}
	return nil
}

// scope names who may share facts with a request: the client whose key it came with, by name, so that a new key keeps
// the conversations of the old one. Without clients, credentials are hashed on the way, all that there are: one more
// scope than needed costs a little, one too few mixes what belongs to different people.
func (p *Proxy) scope(set *settings, head []byte, client string) string {
	kind := set.conf.Scope
	name, isHeader := strings.CutPrefix(strings.ToLower(kind), "header:")
	switch {
	case isHeader && client != "": // a client that writes the header of another one is still itself
		return p.deps.Scope("client "+client+" header:"+name, string(wire.Values(head, name)))
	case isHeader:
		return p.deps.Scope("header:"+name, string(wire.Values(head, name)))
	case kind == "shared", kind == "auto" && client == "" && p.loopback:
		return ""
	case client != "":
		return p.deps.Scope("client", client)
	}
	var all []byte
	for _, name := range [...]string{"authorization", "x-api-key", "api-key"} {
		all = wire.AppendField(all, []byte(name), string(wire.Values(head, name)))
	}
	return p.deps.Scope("credential", string(all))
}
