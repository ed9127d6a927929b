package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"epitome/event"
)

// handles are the metrics that have been looked up before. Each exchange moves some two dozen of them, and to find one
// by its labels takes ten times as long as to count. Their number is bounded by that of the upstreams in the
// configuration.
type handles struct {
	mu      sync.Mutex
	traffic map[string]*traffic // by upstream
	shaping map[lane]*shaping
	ends    map[ending]prometheus.Counter
}

// ending is how an exchange with an upstream ended.
type ending struct {
	upstream, action, fault string
	status                  int
}

// exchangesOf counts the exchanges that ended so. An upstream has a few dozen ways at most.
func (m *Recorder) exchangesOf(end ending) prometheus.Counter {
	m.known.mu.Lock()
	defer m.known.mu.Unlock()
	c := m.known.ends[end]
	if c == nil {
		c = m.exchanges.WithLabelValues(end.upstream, strconv.Itoa(end.status), end.action, end.fault)
		m.known.ends[end] = c
	}
	return c
}

// traffic is what one upstream's exchanges move.
type traffic struct {
	request, response prometheus.Counter
	duration          prometheus.Observer
}

func (m *Recorder) trafficOf(upstream string) *traffic {
	m.known.mu.Lock()
	defer m.known.mu.Unlock()
	t := m.known.traffic[upstream]
	if t == nil {
		t = &traffic{
			request:  m.bytes.WithLabelValues(upstream, "request"),
			response: m.bytes.WithLabelValues(upstream, "response"),
			duration: m.duration.WithLabelValues(upstream),
		}
		m.known.traffic[upstream] = t
	}
	return t
}

// lane is where conversations go, and in what mode.
type lane struct{ upstream, mode string }

// lanes are the counters of conversations: what was done stands apart from what would have been done, as their sums
// mean nothing.
type lanes struct{ on, observed counters }

// counters are those of the conversations of one mode.
type counters struct{ came, sent, changes *prometheus.CounterVec }

func newLanes(registry *prometheus.Registry) lanes {
	l := lanes{
		on: counters{
			came: newCounter("epitome_received_tokens_total",
				"Tokens of conversations as they came, by what they are spent on.", "upstream", "part"),
			sent: newCounter("epitome_sent_tokens_total",
				"Tokens of conversations as they were sent, by what they are spent on.", "upstream", "part"),
			changes: newCounter("epitome_changes_total",
				"Items of conversations that were newly changed, by rung of the ladder.", "upstream", "rung"),
		},
		observed: counters{
			came: newCounter("epitome_observed_tokens_total",
				"Tokens of conversations in mode observe, as they came and were sent, by what they are spent on.",
				"upstream", "part"),
			sent: newCounter("epitome_observed_shaped_tokens_total",
				"Tokens of these as they would have been sent in mode on.", "upstream", "part"),
			changes: newCounter("epitome_observed_changes_total",
				"Items of these that would have been newly changed, by rung of the ladder.", "upstream", "rung"),
		},
	}
	for _, c := range [...]counters{l.on, l.observed} {
		registry.MustRegister(c.came, c.sent, c.changes)
	}
	return l
}

func (l *lanes) of(mode string) counters {
	if mode == event.ModeObserve {
		return l.observed
	}
	return l.on
}

// shaping is what the shaping of one lane's conversations moves.
type shaping struct {
	shape                         prometheus.Observer
	offloaded, cleared, compacted prometheus.Counter
	before, after                 tokens
}

func (m *Recorder) shapingOf(upstream, mode string) *shaping {
	m.known.mu.Lock()
	defer m.known.mu.Unlock()
	at := lane{upstream, mode}
	s := m.known.shaping[at]
	if s == nil {
		in := m.conversations.of(mode)
		change := func(rung string) prometheus.Counter { return in.changes.WithLabelValues(upstream, rung) }
		s = &shaping{
			shape:     m.shape.WithLabelValues(upstream),
			offloaded: change("offload"), cleared: change("clear"), compacted: change("compact"),
			before: tokensOf(in.came, upstream), after: tokensOf(in.sent, upstream),
		}
		m.known.shaping[at] = s
	}
	return s
}

// tokens are counters by what tokens are spent on.
type tokens struct{ system, tools, user, assistant, results, summary, images, other prometheus.Counter }

func tokensOf(all *prometheus.CounterVec, upstream string) tokens {
	part := func(name string) prometheus.Counter { return all.WithLabelValues(upstream, name) }
	return tokens{
		part("system"), part("tools"), part("user"), part("assistant"), part("results"), part("summary"),
		part("images"), part("other"),
	}
}

func (t *tokens) add(n event.Tokens) {
	t.system.Add(float64(n.System))
	t.tools.Add(float64(n.Tools))
	t.user.Add(float64(n.User))
	t.assistant.Add(float64(n.Assistant))
	t.results.Add(float64(n.Results))
	t.summary.Add(float64(n.Summary))
	t.images.Add(float64(n.Images))
	t.other.Add(float64(n.Other))
}
