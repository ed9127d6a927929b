package proxy

import (
	"flag"
	"os"
	"testing"

	"epitome/internal/fakeapi/scriptedtest"
)

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait more than they work; a flag of the caller's wins
		panic(err)
	}
	scriptedtest.CollectLess()
	os.Exit(m.Run())
}
