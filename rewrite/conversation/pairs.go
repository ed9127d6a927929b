package conversation

import "slices"

// Callers returns for each item behind the head the item whose call it answers, as an index behind the head. It is -1
// for what answers none, or one that was answered before. Only ids count, and a result may stand any number of
// messages behind its call: what is parted from its call must not be cut from it. action.Calls, which says what a
// result came from, and a dialect's judge look at the last message's calls alone.
func (r *Request) Callers() []int {
	list := make([]int, len(r.Items)-r.Head)
	open := map[string]int{}
	for i := range list {
		it := &r.Items[r.Head+i]
		list[i] = -1
		switch it.Role {
		case Assistant:
			for _, call := range it.Calls {
				open[call.ID] = i
			}
		case Tool:
			if k, ok := open[it.Answers]; ok {
				list[i] = k
				delete(open, it.Answers)
			}
		}
	}
	return list
}

// CallOf is the call of an item that an id names, both as Callers pairs them: the first one of that id; nil if there is
// none. The calls of an item with many are read once, however often and in whatever order they are asked for.
func CallOf(r *Request, item int, id string) *Call {
	const few = 4
	calls := r.Items[r.Head+item].Calls
	if len(calls) <= few {
		if k := slices.IndexFunc(calls, func(c Call) bool { return c.ID == id }); k >= 0 {
			return &calls[k]
		}
		return nil
	}
	known := r.found.calls[item]
	if known == nil {
		known = make(map[string]int, len(calls))
		for k := len(calls) - 1; k >= 0; k-- {
			known[calls[k].ID] = k
		}
		if r.found.calls == nil {
			r.found.calls = map[int]map[string]int{}
		}
		r.found.calls[item] = known
	}
	if k, ok := known[id]; ok {
		return &calls[k]
	}
	return nil
}

// PinFrom pins all items from item first to item i, which is the last and belongs to the answer of the model that
// begins with the first, if one of the two is pinned: what stays of an answer stays as a whole. It is asked of each
// item as it comes, so that what comes before one that is pinned is so already.
func PinFrom(r *Request, first, i int) {
	whole := r.Items[first].Pinned
	if !whole && !r.Items[i].Pinned {
		return
	}
	r.Items[i].Pinned = true
	for k := i - 1; k >= first && !(whole && r.Items[k].Pinned); k-- {
		r.Items[k].Pinned = true
	}
}
