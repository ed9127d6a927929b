package rewrite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// follow plays a conversation and fails when a promise is broken. It returns what was done over all turns.
func follow(t *testing.T, b *bench, list []string) (changes, breaks int) {
	t.Helper()
	var before []string
	for i, body := range list {
		out := b.shape(body)
		if out.Report.Err != nil {
			t.Fatalf("turn %d: %v", i, out.Report.Err)
		}
		back, err := out.Restore(b.cupboard.get)
		if err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
		if string(back) != body {
			t.Fatalf("turn %d: what is sent and what is kept do not make the original (%d and %d bytes)", i, len(back), len(body))
		}
		if again := b.shape(body); !bytes.Equal(again.Body, out.Body) {
			t.Fatalf("turn %d: asked again, another body is sent", i)
		}
		sent := messagesOf(t, out.Body)
		if len(sent) < len(before) || !slices.Equal(before, sent[:len(before)]) {
			breaks++
			if !out.Report.Broke {
				t.Fatalf("turn %d: messages that had been sent changed without a decision", i)
			}
		}
		changes += len(out.Report.Changes)
		before = sent
	}
	return changes, breaks
}

// Promises 2, 3, 5 and 6 on real conversations: nothing invalid, nothing lost, no prefix that changes by itself, across a restart.
func TestRealConversationsKeepThePromises(t *testing.T) {
	for _, file := range conversations(t) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range []int{32_000, 64_000, 128_000, 200_000} {
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), window), func(t *testing.T) {
				t.Parallel()
				b := newBench(window)
				changes, breaks := follow(t, b, turns(t, body))
				t.Logf("%d changes, %d breaks", changes, breaks)
			})
		}
	}
}
