package conversation

// NumberOf is the number of the message that says item i of all, from 0 on.
func NumberOf(r *Request, i int) int { return MessagesIn(r, 0, i+1) - 1 }

// MessagesIn is how many messages say n items, from item i of all on.
func MessagesIn(r *Request, i, n int) int {
	if !r.Nested || n == 0 {
		return n
	}
	count := 1
	for k := i + 1; k < i+n; k++ {
		if r.Items[k].Place() != r.Items[k-1].Place() {
			count++
		}
	}
	return count
}
