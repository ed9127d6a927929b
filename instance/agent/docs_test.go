package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/instance/agent"
)

func TestDocsShowTheTable(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "agents.md")
	docs, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := agent.Table("http://127.0.0.1:7070"); !strings.Contains(string(docs), "\n\n"+want+"\n") {
		t.Errorf("%s does not show this table, alone:\n%s", path, want)
	}
}
