package conversation

import "slices"

// Callers returns for each item behind the head the item whose call it answers, as an index behind the head. It is -1
// for what answers none, or one that was answered before. Only ids count, and a result may stand any number of
// messages behind its call: what is parted from its call must not be cut from it. history.Calls, which says what a
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

// PinAnswer pins all of the answer of the model to which item i belongs, with all behind it, if some of that is pinned:
// what stays of an answer stays as a whole.
func PinAnswer(r *Request, i int) {
	first := answerOf(r, i)
	if !r.Items[i].Pinned && !r.Items[first].Pinned {
		return
	}
	for k := first; k < len(r.Items); k++ {
		r.Items[k].Pinned = true
	}
}

// answerOf is where the answer of the model begins to which item i belongs: the last one before it, or the one whose
// call it answers. It is i itself if there is none among the items before.
func answerOf(r *Request, i int) int {
	const far = 200 // items; what is broken so much is left to the checker
	first := i
	for k := i - 1; k >= max(0, i-far); k-- {
		it := &r.Items[k]
		if it.Role != Assistant {
			continue
		}
		calls := r.Items[i].Role != Tool || slices.ContainsFunc(it.Calls, func(c Call) bool {
			return c.ID == r.Items[i].Answers
		})
		if calls {
			first = k
		}
		for ; first == k && k > 0 && !r.Items[k].Begins; k-- {
			first = k - 1
		}
		if first < i {
			return first
		}
	}
	return first
}
