package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"epitome/event"
)

// sale is who sells tokens of which model. A model is called what its price is called in the table or the
// configuration, which no client chooses.
type sale struct{ upstream, model string }

// otherModel is what models without a price are called.
const otherModel = "other"

// saleOf returns the sale of a price. Its name begins with who sells it, which the upstream says too.
func saleOf(upstream, price string) sale {
	if price == "" {
		return sale{upstream, otherModel}
	}
	if _, model, found := strings.Cut(price, "/"); found {
		return sale{upstream, model}
	}
	return sale{upstream, price}
}

// amounts are nano-dollars by sale or client, served as dollars. Whole numbers are added up, so that sums agree with
// those that are told elsewhere.
type amounts[K comparable] struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	values func(K) []string // of the labels
	mu     sync.Mutex
	nano   map[K]int64
}

func newAmounts[K comparable](kind prometheus.ValueType, desc *prometheus.Desc, values func(K) []string) *amounts[K] {
	return &amounts[K]{desc: desc, kind: kind, values: values, nano: map[K]int64{}}
}

func (a *amounts[K]) add(key K, nano int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.nano[key] += nano
}

// Describe says what is collected.
func (a *amounts[K]) Describe(to chan<- *prometheus.Desc) { to <- a.desc }

// Collect tells all amounts.
func (a *amounts[K]) Collect(to chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, nano := range a.nano {
		to <- prometheus.MustNewConstMetric(a.desc, a.kind, float64(nano)/1e9, a.values(key)...)
	}
}

// spending is the fold of what exchanges cost, and of what they were spared.
type spending struct {
	input, read, write, output *prometheus.CounterVec
	billed, own, saved         *amounts[sale]
	unpriced, beyond, misses   *prometheus.CounterVec
	uncharged, cut             *prometheus.CounterVec
	used                       *prometheus.HistogramVec

	mu    sync.Mutex
	known map[sale]*usage // those that have been looked up before
}

// usage is what the usage of one sale moves.
type usage struct{ input, read, write, output prometheus.Counter }

func (u *usage) add(n *event.Usage) {
	// of tokens a provider may say anything, and a counter must not fall
	u.input.Add(float64(max(n.Input, 0)))
	u.read.Add(float64(max(n.Read, 0)))
	u.write.Add(float64(max(n.Write5m+n.Write1h, 0)))
	u.output.Add(float64(max(n.Output, 0)))
}

func (m *spending) usageOf(s sale) *usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.known[s]
	if u == nil {
		of := func(all *prometheus.CounterVec) prometheus.Counter { return all.WithLabelValues(s.upstream, s.model) }
		u = &usage{of(m.input), of(m.read), of(m.write), of(m.output)}
		m.known[s] = u
	}
	return u
}

// usedShares are shares of a window, and a little beyond it.
var usedShares = []float64{.1, .25, .5, .6, .7, .8, .9, 1, 1.1}

func newSpending(registry *prometheus.Registry) *spending {
	tokens := func(what, help string) *prometheus.CounterVec {
		return newCounter("epitome_usage_"+what+"_tokens_total", help, "upstream", "model")
	}
	amount := func(kind prometheus.ValueType, name, help string) *amounts[sale] {
		return newAmounts(kind, prometheus.NewDesc(name, help, []string{"upstream", "model"}, nil),
			func(s sale) []string { return []string{s.upstream, s.model} })
	}
	m := &spending{
		known: map[sale]*usage{},
		input: tokens("input", "Tokens of requests as answers tell them, with those of the provider's cache; where answers "+
			"do not, as epitome counts them."),
		read:   tokens("cache_read", "Of these, tokens that the provider's cache had."),
		write:  tokens("cache_write", "Of the input, tokens that the provider's cache took up."),
		output: tokens("output", "Tokens of answers, with what was thought, as answers tell them."),
		billed: amount(prometheus.CounterValue, "epitome_billed_dollars_total",
			"What exchanges cost by the usage in answers, where usage and price are known."),
		own: amount(prometheus.CounterValue, "epitome_own_dollars_total",
			"What epitome's own requests for summaries cost."),
		saved: amount(prometheus.GaugeValue, "epitome_saved_dollars",
			"What was saved since the start: requests as they came and as they were sent by one ruler, less what summaries "+
				"cost. It may fall."),
		unpriced: newCounter("epitome_unpriced_exchanges_total",
			"Conversations' exchanges that lack an amount, by why (model: no price is known; cached: none of what a cache "+
				"has; usage: the answer does not tell it; odd: it contradicts itself).",
			"upstream", "reason"),
		uncharged: newCounter("epitome_uncharged_summaries_total",
			"Jobs for summaries of which it is not known what they cost, as no price is, or answers do not tell their tokens.",
			"upstream"),
		cut: newCounter("epitome_cut_answers_total",
			"Exchanges that are billed, and whose answers did not come whole: they may have cost more.", "upstream"),
		beyond: newCounter("epitome_beyond_window_exchanges_total",
			"Requests that would have been refused as they came, as they were more than their model's window.", "upstream"),
		misses: newCounter("epitome_cache_misses_total",
			"Requests of which the provider's cache had less than the one before had put there, by cause.",
			"upstream", "cause"),
		used: newHistogram("epitome_window_used_ratio",
			"Share of its model's window that a conversation's request fills as it is sent.", usedShares, "upstream"),
	}
	registry.MustRegister(m.input, m.read, m.write, m.output, m.billed, m.own, m.saved, m.unpriced, m.uncharged,
		m.cut, m.beyond, m.misses, m.used)
	return m
}

// record counts what an exchange cost, and why.
func (m *spending) record(e *event.Exchange) {
	at := saleOf(e.Upstream, e.Bill.Price)
	if u := &e.Usage; u.Source != "" && !u.Odd {
		m.usageOf(at).add(u)
	}
	if e.Miss != event.NoMiss {
		m.misses.WithLabelValues(e.Upstream, string(e.Miss)).Inc()
	}
	b := &e.Bill
	if b.Measured {
		m.billed.add(at, b.Billed)
	}
	if b.AtLeast {
		m.cut.WithLabelValues(e.Upstream).Inc()
	}
	if b.IsUnpriced() {
		m.unpriced.WithLabelValues(e.Upstream, b.Unpriced).Inc()
	}
	if e.ShapeTime == 0 || e.Mode != event.ModeOn {
		return
	}
	if e.Bill.Ruled {
		m.saved.add(at, e.Bill.Saved())
	}
	if e.Bill.Beyond {
		m.beyond.WithLabelValues(e.Upstream).Inc()
	}
	if e.Window > 0 {
		m.used.WithLabelValues(e.Upstream).Observe(float64(e.TokensAfter.Total()) / float64(e.Window))
	}
}

// recordOwn counts what a request for a summary cost.
func (m *spending) recordOwn(e *event.Summary) {
	if e.IsUncharged() {
		m.uncharged.WithLabelValues(e.Upstream).Inc()
	}
	if e.Own.Nano == 0 {
		return
	}
	at := saleOf(e.Upstream, e.Own.Price)
	m.own.add(at, e.Own.Nano)
	m.saved.add(at, -e.Own.Nano)
}
