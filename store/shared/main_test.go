package shared_test

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait for servers; a flag of the caller's wins
		panic(err)
	}
	os.Exit(m.Run())
}
