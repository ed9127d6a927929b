package burst

import (
	"testing"

	"epitome/bench/lineup/lineuptest"
)

func TestMain(m *testing.M) { lineuptest.Main(m) }
