package daemon

import (
	"flag"
	"os"
	"testing"

	"epitome/internal/fakeapi"
)

func TestMain(m *testing.M) {
	// Many daemons in one process: each would pace the collections of all, and bound what all of them hold.
	for name, value := range map[string]string{"GOGC": "400", "GOMEMLIMIT": "1536MiB"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if err := flag.Set("test.parallel", "4"); err != nil { // they wait about as much as they work; a flag of the caller's wins
		panic(err)
	}
	fakeapi.CollectLess()
	os.Exit(m.Run())
}
