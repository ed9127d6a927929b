package rewrite

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/seen"
)

// A conversation whose mark for the cache has moved since is known, and is what a reader makes of it who knows nothing.
func TestMarksThatMoveAreNoNewConversation(t *testing.T) { isKnownAsItIsRead(t, messagesTongue{}) }

// Likewise where what the model says may go on.
func TestAnswersThatGoOnAreKnown(t *testing.T) { isKnownAsItIsRead(t, responsesTongue{}) }

func isKnownAsItIsRead(t *testing.T, in tongue) {
	t.Helper()
	known := 0
	for seed := range uint64(300) {
		c := newTalkIn(in, seed, seed%3 == 0)
		b := newBench(1_000_000)
		b.dialect = in
		for range 2 + seed%7 {
			c.grow()
			b.shape(c.body())
			if seed%5 == 0 { // the head moves as well
				c.head = []string{c.tongue.lead(c, c.string(fmt.Sprint("Turn ", len(c.items))))}
			}
		}
		c.grow()
		body := []byte(c.body())
		x := &run{shaper: b.Shaper, in: Input{Dialect: b.dialect, Body: body}}
		got, err := in.Read(body, x.recall)
		want, wrong := in.Read(body, nil)
		if wrong != nil || errors.Is(err, conversation.ErrMoved) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range got.Items {
			if got.Items[i].Opaque = false; i < len(want.Items) { // reading alone does not find it out
				want.Items[i].Opaque = false
			}
			if i < len(want.Items) && !reflect.DeepEqual(got.Items[i], want.Items[i]) {
				t.Fatalf("seed %d: item %d is\n%+v, want\n%+v\n%s", seed, i, got.Items[i], want.Items[i], body)
			}
		}
		marks := seen.AllMarks(x.past.marks(), got.Marks)
		if len(got.Items) != len(want.Items) || fmt.Sprint(marks) != fmt.Sprint(want.Marks) {
			t.Fatalf("seed %d: %d items, marks %v; want %d, %v", seed, len(got.Items), marks, len(want.Items), want.Marks)
		}
		if x.past != nil {
			known++
		}
	}
	if known < 200 {
		t.Errorf("only %d conversations were known", known)
	}
}

// Wherever a client puts its mark, and takes it away again, all that was seen is known.
func TestNothingIsReadAgainForAMark(t *testing.T) {
	f := func(mark func(block string) (with, without string)) {
		t.Helper()
		c := newCoder(1_000_000, userBlocks(textBlock(strings.Repeat(theTask, 30))))
		for range 80 { // more than there are pieces of one
			c.work(2, 100)
			last := c.items[len(c.items)-1]
			at := strings.LastIndex(last, `{"type":"tool_result"`)
			with, without := mark(strings.TrimSuffix(last[at:], "]}"))
			c.items[len(c.items)-1] = last[:at] + with + "]}"
			body := []byte(c.body())
			x := &run{shaper: c.Shaper, in: Input{Dialect: c.dialect, Body: body}}
			items, end := x.recall(body, strings.Index(string(body), `{"role"`), nil)
			if want := 3 * (c.calls/2 - 1); len(items) < want+1-3 && c.calls > 4 {
				t.Fatalf("turn %d: %d items are known, want %d", c.calls/2, len(items), want)
			}
			if n := len(items); n > 0 && items[n-1].Place().End != end {
				t.Fatalf("turn %d: the last item ends at %d, not at %d", c.calls/2, items[n-1].Place().End, end)
			}
			if x.past != nil {
				x.past.Marks = nil // none is new
				keepKnown(x, x.past, body[x.past.From:end])
			}
			c.ask(t)
			c.items[len(c.items)-1] = last[:at] + without + "]}"
		}
	}
	const mark = `"cache_control": {"type":"ephemeral","ttl":"1h"}`
	f(func(block string) (string, string) { return block, block })
	f(func(block string) (string, string) { return strings.TrimSuffix(block, "}") + "," + mark + "}", block })
	f(func(block string) (string, string) { return "{" + mark + ", " + block[1:], block })
	f(func(block string) (string, string) {
		return strings.Replace(block, `,"content"`, ","+mark+` ,"content"`, 1),
			strings.Replace(block, `,"content"`, ` ,"content"`, 1)
	})
	f(func(block string) (string, string) { // in the content of the result
		head, text, _ := strings.Cut(strings.TrimSuffix(block, "}"), `"content":`)
		head += `"content":[{"type":"text","text":` + text
		return head + "," + mark + "}]}", head + "}]}"
	})
}
