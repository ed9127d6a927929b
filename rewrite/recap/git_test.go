package recap

import (
	"testing"

	"epitome/rewrite/recap/git"
)

// Each edit is held against commands of git that name few files together.
func TestFilesOfGitAreBounded(t *testing.T) {
	many := git.Command{Files: make([]string, 300)}
	list := []*gitStep{{Command: many}, {}, {Command: many}, {}}
	for room, want := range map[int]int{1_000: 4, 302: 3, 301: 2, 1: 1, 0: 0} {
		if got := len(newestGit(list, room)); got != want {
			t.Errorf("in %d: %d commands, want %d", room, got, want)
		}
	}
}
