package proxy

import (
	"strings"
	"testing"
	"unsafe"
)

func TestMakersKeepNoAnswers(t *testing.T) {
	compaction := strings.Repeat("A", 100)
	if unsafe.StringData(keyOf(compaction)) == unsafe.StringData(compaction[68:]) {
		t.Error("the key is a part of the compaction, which stays in memory with it, and the answer around that")
	}
}
