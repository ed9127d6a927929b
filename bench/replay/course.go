package replay

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

// mostPoints bounds each series.
const mostPoints = 2000

// course returns the course of the conversation that the players have played.
func (r *replayRun) course(c *recording, players []*player) Course {
	out := Course{Conversation: c.name, Requests: len(c.bounds), Raw: newSeries(nil), Sent: []SentSeries{}}
	for i, x := range players {
		if i == 0 {
			out.Raw = newSeries(x.track.rawTokens)
		}
		if i%len(r.policies) < len(r.policies)-len(r.Policies)-len(r.Guests) {
			continue
		}
		out.Sent = append(out.Sent, SentSeries{
			Window: x.window, Policy: x.policy, Series: newSeries(x.track.sentTokens),
			Decided: len(x.track.decisions), Decisions: chart.Evenly(x.track.decisions, mostPoints),
		})
	}
	return out
}

func newSeries(tokens []int) Series {
	if len(tokens) <= mostPoints {
		return Series{Tokens: append([]int{}, tokens...)}
	}
	var s Series
	for _, i := range chart.Thin(tokens, mostPoints) {
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
