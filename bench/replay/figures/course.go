package figures

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
	for _, i := range thin(tokens, MostPoints) {
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

// thin chooses at most most values, at least four, by their places: the first, the last, and the smallest and the largest
// of each of equal stretches between them.
func thin(values []int, most int) (places []int) {
	places = []int{0}
	inner, stretches := len(values)-2, (most-2)/2
	for s := range stretches {
		low := 1 + inner*s/stretches
		high := low
		for i := low + 1; i < 1+inner*(s+1)/stretches; i++ {
			if values[i] < values[low] {
				low = i
			}
			if values[i] > values[high] {
				high = i
			}
		}
		places = append(places, min(low, high))
		if low != high {
			places = append(places, max(low, high))
		}
	}
	return append(places, len(values)-1)
}

// Evenly chooses at most most of the numbers, at even distances.
func Evenly(numbers []int, most int) []int {
	out := make([]int, 0, min(len(numbers), most))
	for i := range cap(out) {
		out = append(out, numbers[i*len(numbers)/cap(out)])
	}
	return out
}
