package conversation

// NumberOf is the number of the message that says item i of all, from 0 on.
func NumberOf(r *Request, i int) int {
	if !r.Nested {
		return i
	}
	if len(r.found.numbers) != len(r.Items) { // they are asked for by the thousand
		r.found.numbers = make([]int32, len(r.Items))
		for k := 1; k < len(r.Items); k++ {
			if r.found.numbers[k] = r.found.numbers[k-1]; !SameMessage(r, k) {
				r.found.numbers[k]++
			}
		}
	}
	return int(r.found.numbers[i])
}

// MessagesIn is how many messages say n items, from item i of all on.
func MessagesIn(r *Request, i, n int) int {
	if !r.Nested || n == 0 {
		return n
	}
	count := 1
	for k := i + 1; k < i+n; k++ {
		if !SameMessage(r, k) {
			count++
		}
	}
	return count
}

// SameMessage reports whether item i of all and the one before it are said by one message.
func SameMessage(r *Request, i int) bool {
	return r.Nested && r.Items[i].Place() == r.Items[i-1].Place()
}
