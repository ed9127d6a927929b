package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/summarize"
	"epitome/window"
)

// InputOf returns how an exchange with these headers would have the conversation in body shaped, on its way to the
// upstream of the given name; without a name, to the one that requests for its model go to. The body is in the
// dialect d. Nobody waits for the result. The error says what to write instead; one that has a Status is about the
// client.
func (p *Proxy) InputOf(d conversation.Dialect, h http.Header, upstream string, body []byte) (rewrite.Input, error) {
	set := p.settings.Load()
	if upstream == "" {
		upstream = set.forModel(modelOf(body)).name
	}
	up, err := set.lookUp(upstream)
	if err != nil {
		return rewrite.Input{}, err
	}
	client, head, err := set.find(linesOf(h))
	if err != nil {
		return rewrite.Input{}, err
	}
	if err := mayUse(client, "upstream", up.name, set.conf.Clients[client].Upstreams); err != nil {
		return rewrite.Input{}, err
	}
	in, err := p.inputFrom(set, head, p.scope(set, head, client), Run{})
	in.Dialect, in.Body, in.Upstream = d, body, up.name
	return in, err
}

// ScopeOf names who may share facts with a request that has that header.
func (p *Proxy) ScopeOf(h http.Header) (string, error) {
	set := p.settings.Load()
	client, head, err := set.find(linesOf(h))
	return p.scope(set, head, client), err
}

// linesOf returns a header as it stands in a request's head.
func linesOf(h http.Header) []byte {
	var block bytes.Buffer
	_ = h.Write(&block) // a buffer takes everything
	return block.Bytes()
}

// IsClient reports whether a request with that header has the key of a client; false where keys are not asked for.
func (p *Proxy) IsClient(h http.Header) bool {
	name, _, err := p.settings.Load().find(linesOf(h))
	return err == nil && name != ""
}

// compactValue matches the values of x-epitome-compact, with the tokens to leave and a focus of up to maxFocus
// characters. A count in the expression would delay each start.
var compactValue = regexp.MustCompile(`^now(?:\s*;\s*to=([^;\s]+))?(?:\s*;\s*focus=(.+))?$`)

// ReadAsk reads the values with which a compaction is asked for, which may be empty. The error says what to write.
func ReadAsk(to, focus string) (ask rewrite.Ask, _ error) {
	ask.Focus = focus
	if utf8.RuneCountInString(focus) > maxFocus {
		return ask, fmt.Errorf("write a focus of up to %d characters", maxFocus)
	}
	if to == "" {
		return ask, nil
	}
	var n unit.Tokens
	if err := n.UnmarshalText([]byte(to)); err != nil || n < 1 || n > unit.MostTokens {
		return ask, fmt.Errorf("write a number of tokens as to, such as to=8000 or to=8k, and not %.40q", to)
	}
	ask.To = int(n)
	return ask, nil
}

const maxFocus = 1000

// inputFrom reads from the header lines of a request how it is to be shaped, in a scope. The error says what to write
// instead.
func (p *Proxy) inputFrom(set *settings, head []byte, scope string, run Run) (in rewrite.Input, err error) {
	in = set.conf.Input
	limits := *in.Limits
	in.Limits = &limits
	in.Runtime = run.Runtime
	if run.Preset != "" && run.Preset != limits.Preset { // else the file's own numbers stand over it
		err = limits.SetPreset(run.Preset)
		if err != nil {
			return in, err
		}
	}
	in.Scope = scope
	scopeHeader, _ := strings.CutPrefix(strings.ToLower(set.conf.Scope), "header:")
	var numbers []string // which override those of a preset, wherever it stands
	for l := wire.LinesOf(head); l.Next(); {
		if l.Is("anthropic-beta") && bytes.Contains(l.Value, []byte("context-1m-")) {
			in.Variant = window.Million
		}
		if !wire.IsOwn(l.Name) || l.Is(scopeHeader) {
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
		err = checkProject(value)
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
func setCompact(in *rewrite.Input, value string) error {
	groups := compactValue.FindStringSubmatch(value)
	if groups == nil {
		return fmt.Errorf("write now, or now; focus=TEXT of up to %d characters, or now; to=8000, "+
			"or now; to=8000; focus=TEXT", maxFocus)
	}
	ask, err := ReadAsk(groups[1], groups[2])
	in.Compact, in.CompactTo, in.Focus = true, ask.To, ask.Focus
	return err
}

// setNumbers sets the numbers that x-epitome-set lists: name=value, name=value.
func setNumbers(in *rewrite.Input, list string) error {
	for pair := range strings.SplitSeq(list, ",") {
		pair = strings.TrimSpace(pair)
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		key := strings.ReplaceAll(strings.ToLower(name), "-", "_")
		isKnown := true
		var err error
		switch key {
		case "summarize_mode":
			in.Summary.Mode, err = summarize.Parse[summarize.Mode](value, summarize.Modes)
		case "summarize_detail":
			in.Summary.Detail, err = summarize.Parse[summarize.Detail](value, summarize.Details)
		default:
			*in.Limits, isKnown, err = in.Limits.With(key, value)
		}
		if !isKnown {
			return fmt.Errorf("unknown name %.60s in %sset; write one of %s", cmp.Or(key, pair), wire.OwnPrefix,
				strings.Join(append(in.Limits.Names(), "summarize_mode", "summarize_detail"), ", "))
		}
		if err != nil {
			return fmt.Errorf("cannot use %s in %sset: %w", key, wire.OwnPrefix, err)
		}
	}
	return nil
}

// checkProject says why a name cannot be a project's.
func checkProject(name string) error {
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

// Config is the table [proxy] of config.toml, where each number is explained for users.
type Config struct {
	MaxBody          unit.Bytes    `toml:"max_body"`
	MaxInFlight      unit.Bytes    `toml:"max_in_flight"`   // fixed at start
	MaxRecent        unit.Bytes    `toml:"max_recent"`      // fixed at start
	MaxConnections   int           `toml:"max_connections"` // fixed at start
	FirstByteTimeout unit.Duration `toml:"first_byte_timeout"`
	ShutdownGrace    unit.Duration `toml:"shutdown_grace"`
	TrustedProxies   []string      `toml:"trusted_proxies"` // networks
}

// remoteOf returns the address that a request came from. Of a proxy that is trusted it is the one that the proxy names in
// X-Forwarded-For, where each adds the address that it was called from at the end.
func (s *settings) remoteOf(direct net.Addr, head []byte) string {
	remote := direct.String()
	hops := strings.Split(string(wire.Values(head, "x-forwarded-for")), ",")
	for _, hop := range slices.Backward(hops) {
		at, _ := netip.ParseAddr(hostOf(remote)) // any other text is in no prefix
		isIn := func(network netip.Prefix) bool { return network.Contains(at.Unmap()) }
		hop = strings.TrimSpace(hop)
		if hop == "" || !slices.ContainsFunc(s.trusted, isIn) {
			break
		}
		remote = event.Clip(hop)
	}
	return remote
}

// hostOf returns the host of an address that may have a port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// Settings are what a reload may change, but for the numbers that Config marks as fixed at start.
type Settings struct {
	Config    `toml:"proxy"`
	Mode      string                    `toml:"mode"`
	Scope     string                    `toml:"scope"`    // who may share facts: auto, credential, shared or header:NAME
	Upstream  string                    `toml:"upstream"` // name of the default one
	Upstreams map[string]UpstreamConfig `toml:"upstreams"`
	Clients   map[string]ClientConfig   `toml:"clients"` // whose keys are asked for; none: nobody's are
	Routes    []RouteRule               `toml:"routes"`
	Input     rewrite.Input             `toml:"-"` // what a request's own headers may override
	Contexts  []string                  `toml:"-"` // names of files that all conversations are given

	limits *limits // nil for defaultLimits
}

const (
	// maxHeader bounds a request's head, in bytes. Clients need 1 to 4 KB; long tokens and cookies need more. Each
	// connection has a buffer of this size.
	maxHeader = 16 << 10
	keepAlive = 2 * time.Minute  // for which a client's connection stays open without a request
	dialTime  = 10 * time.Second // for connecting to an upstream
)

// limits are times that cannot be configured. Tests shorten them.
type limits struct {
	arrive       time.Duration // for the head of a request to arrive, and for the next bytes of its body
	readIdle     time.Duration // for which an upstream may be silent within an answer
	writeIdle    time.Duration // after which a client or an upstream that takes nothing is given up
	upstreamIdle time.Duration // for which an unused connection to an upstream is kept; servers close theirs after 5 s
	room         time.Duration // that a body waits for memory; the SDKs of the large providers wait as long
}

var defaultLimits = limits{
	arrive: 30 * time.Second, readIdle: 10 * time.Minute, writeIdle: time.Minute, upstreamIdle: 4 * time.Second,
	room: 10 * time.Minute,
}

// settings are one configuration and the values made from it. They do not change once made.
type settings struct {
	conf      Settings
	clients   clients
	upstreams map[string]*upstream
	fallback  *upstream      // of requests that no rule sends elsewhere
	trusted   []netip.Prefix // networks of proxies
}

// newSettings makes the upstreams and clients of s, whose routes lead to its upstreams.
func newSettings(s Settings) (set *settings, err error) {
	s.limits = cmp.Or(s.limits, &defaultLimits)
	set = &settings{conf: s, upstreams: make(map[string]*upstream, len(s.Upstreams))}
	for _, name := range slices.Sorted(maps.Keys(s.Upstreams)) {
		set.upstreams[name], err = newUpstream(name, s.Upstreams[name], s.limits)
		if err != nil {
			return nil, err
		}
	}
	set.fallback, err = set.lookUp(s.Upstream)
	if err != nil {
		return nil, fmt.Errorf("cannot use upstream: %w", err)
	}
	for _, network := range s.TrustedProxies {
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return nil, fmt.Errorf("cannot use proxy.trusted_proxies: %q is no network: write it as 10.0.0.0/8, a single "+
				"address as 10.1.2.3/32", network)
		}
		set.trusted = append(set.trusted, prefix)
	}
	set.clients, err = newClients(s.Clients)
	return set, err
}

// lookUp finds the upstream of a name.
func (s *settings) lookUp(name string) (*upstream, error) {
	if up := s.upstreams[name]; up != nil {
		return up, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(s.upstreams)), ", ")
	return nil, fmt.Errorf("epitome has no upstream %q; known are %s", name, known)
}

// forModel finds the upstream of the first rule whose pattern matches, else the default one.
func (s *settings) forModel(model string) *upstream {
	for _, r := range s.conf.Routes {
		if unit.Match(r.Model, model) {
			return s.upstreams[r.Upstream]
		}
	}
	return s.fallback
}

// mode returns the mode of a request: that of its x-epitome-mode, or else of its run, or else the configured one. The
// error refuses a header that is no mode.
func (s *settings) mode(head []byte, run Run) (mode string, err error) {
	usual := cmp.Or(run.Mode, s.conf.Mode)
	mode = string(bytes.ToLower(wire.Find(head, wire.OwnPrefix+"mode")))
	switch mode {
	case event.ModeOn, event.ModeObserve, event.ModeOff:
		return mode, nil
	case "":
		return usual, nil
	}
	return usual, refuse(400, "bad_request",
		"x-epitome-mode must be on, observe or off: correct it, or leave it out")
}
