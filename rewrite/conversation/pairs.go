package conversation

// Callers says of each item behind the head which item's call it answers, as an index behind the head; -1 if none, or one
// that was answered before. Only ids count: a result may stand anywhere behind its call.
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
