package conversation

import (
	"testing"

	"epitome/rewrite/span"
)

func TestMessagesAreCountedAndNotItems(t *testing.T) {
	one, two := span.Span{Start: 10, End: 50}, span.Span{Start: 60, End: 90}
	r := &Request{Nested: true, Items: []Item{
		{Span: span.Span{Start: 1, End: 9}},
		{Span: span.Span{Start: 20, End: 30}, Outer: one}, {Span: span.Span{Start: 31, End: 40}, Outer: one},
		{Span: span.Span{Start: 65, End: 70}, Outer: two}, {Span: span.Span{Start: 71, End: 80}, Outer: two},
		{Span: span.Span{Start: 91, End: 99}},
	}}
	for i, want := range []int{0, 1, 1, 2, 2, 3} {
		if got := NumberOf(r, i); got != want {
			t.Errorf("item %d is said by message %d, want %d", i, got, want)
		}
	}
	f := func(i, n, want int) {
		t.Helper()
		if got := MessagesIn(r, i, n); got != want {
			t.Errorf("%d items from item %d on stand in %d messages, want %d", n, i, got, want)
		}
	}
	f(0, 6, 4)
	f(1, 2, 1)
	f(2, 2, 2)
	f(3, 0, 0)
	r.Nested = false
	f(1, 2, 2)
}
