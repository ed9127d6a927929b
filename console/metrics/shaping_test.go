package metrics

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"epitome/event/eventtest"
)

func TestNoLabelIsOfAConversation(t *testing.T) {
	m := New(idle)
	m.RecordExchange(eventtest.Conversation())
	before := slices.Sorted(maps.Keys(samples(t, m)))
	for i := range 20 {
		e := eventtest.Conversation()
		e.Model, e.Conversation, e.Reason, e.Inner = fmt.Sprintf("m%d", i), fmt.Sprintf("c%d", i), fmt.Sprintf("r%d",
			i), fmt.Sprintf("i%d", i)
		e.Window = i
		m.RecordExchange(e)
		e.Mode = fmt.Sprintf("mode-%d", i)
		m.RecordExchange(e)
	}
	if keys := slices.Sorted(maps.Keys(samples(t, m))); !slices.Equal(keys, before) {
		t.Errorf("the series depend on what conversations say: were %q, are %q", before, keys)
	}
}
