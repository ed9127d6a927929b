package scriptedtest

import (
	"flag"
	"runtime"
	"runtime/debug"
)

// CollectLess has a test binary collect garbage as seldom as the program does, and keep no profile of memory that
// nobody asked for: with each collection all of it is gone through. It reads the flags: what TestMain sets before it, a
// caller may set otherwise.
func CollectLess() {
	flag.Parse()
	debug.SetGCPercent(400)
	if flag.Lookup("test.memprofile").Value.String() == "" {
		runtime.MemProfileRate = 0
	}
}

// DrawFewer has rapid draw so many cases of each property, unless a caller says how many. The step "plays" of .ci/run
// draws more.
func DrawFewer(cases string) {
	const checks = "rapid.checks"
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == checks })
	if said {
		return
	}
	if err := flag.Set(checks, cases); err != nil {
		panic(err)
	}
}
