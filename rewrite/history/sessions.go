package history

import "epitome/rewrite/history/ending"

// begun are the calls of which commands went on, by how these are named: the results of those that began them.
type begun map[string]int

// learn notes result n if its command goes on.
func (b begun) learn(n int, res *Result, raw []byte) {
	if k, known := b[res.Action.Session]; known && res.Action.Session != "" {
		res.begun = k + 1
		return
	}
	if id := ending.GoesOn(&res.Source, raw); id != "" {
		b[id] = n
	}
}

// BegunBy is the result of the call whose command the call of res waits for, gives input to, or ends; nil if it is not
// about an earlier one.
func (h *History) BegunBy(res *Result) *Result {
	if res.begun == 0 {
		return nil
	}
	return &h.Results[res.begun-1]
}
