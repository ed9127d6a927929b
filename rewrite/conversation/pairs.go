package conversation

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
