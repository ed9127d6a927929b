package figures

import "epitome/console/chart"

// Course is how one conversation went: the tokens of each of its requests, as the client sent it and as others made it.
type Course struct {
	Conversation string       `json:"conversation"`
	Requests     int          `json:"requests"`
	Raw          Series       `json:"raw"`
	Sent         []SentSeries `json:"sent"` // by window, then by policy; without those that all are compared with
}

// Series is the tokens of requests in their order, at most 2000 of them. Of a longer conversation stand here the first
// and the last request, and of each of equal stretches between them the smallest and the largest.
type Series struct {
	At     []int `json:"at,omitempty"` // the requests' numbers, from 1; left out where all are here
	Tokens []int `json:"tokens"`
}

// SentSeries is the tokens of what one policy sent in one window.
type SentSeries struct {
	Window int    `json:"window"` // tokens
	Policy string `json:"policy"`
	Series
	Decided   int   `json:"decided"`   // requests with a decision that changed what had been sent
	Decisions []int `json:"decisions"` // their numbers, from 1; of more than 2000 as many, evenly chosen
}

// MostPoints bounds each series.
const MostPoints = 2000

// SeriesOf is what a chart needs of the tokens of a conversation's requests.
func SeriesOf(tokens []int) Series {
	if len(tokens) <= MostPoints {
		return Series{Tokens: append([]int{}, tokens...)}
	}
	var s Series
	for _, i := range chart.Thin(tokens, MostPoints) {
		s.At, s.Tokens = append(s.At, i+1), append(s.Tokens, tokens[i])
	}
	return s
}

// Number returns the number of the i-th request in the series.
func (s Series) Number(i int) int {
	if s.At == nil {
		return i + 1
	}
	return s.At[i]
}
