package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"epitome/event"
)

// clients is the fold of exchanges by whose key they came with. There are as many names as the configuration has.
type clients struct {
	exchanges *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	billed    *amounts[string]
}

func newClients(registry *prometheus.Registry) clients {
	m := clients{
		exchanges: newCounter("epitome_client_exchanges_total",
			"Exchanges that have ended, by the client whose key they came with and status code of the answer.",
			"client", "status"),
		tokens: newCounter("epitome_client_tokens_total",
			"Tokens of these that providers told, by the client and part (input, output).",
			"client", "part"),
		billed: newAmounts(prometheus.CounterValue, prometheus.NewDesc("epitome_client_billed_dollars_total",
			"What these cost by the usage in answers, where usage and price are known.", []string{"client"}, nil),
			func(client string) []string { return []string{client} }),
	}
	registry.MustRegister(m.exchanges, m.tokens, m.billed)
	return m
}

// record counts an exchange that came with the key of a client.
func (m *clients) record(e *event.Exchange) {
	if e.Client == "" {
		return
	}
	m.exchanges.WithLabelValues(e.Client, strconv.Itoa(e.Status)).Inc()
	m.tokens.WithLabelValues(e.Client, "input").Add(float64(max(e.Usage.Input, 0)))
	m.tokens.WithLabelValues(e.Client, "output").Add(float64(max(e.Usage.Output, 0)))
	if e.Bill.Measured {
		m.billed.add(e.Client, e.Bill.Billed)
	}
}
