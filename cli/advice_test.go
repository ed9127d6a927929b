package cli

import (
	"strings"
	"testing"

	"epitome/cli/line"
)

// grammar has a command that is meant where none is named.
type grammar struct {
	ShowHelp line.Asked `name:"help" short:"h"`
	Mode     string     `placeholder:"MODE"`
	Model    string     `placeholder:"NAME"`

	Serve struct {
		Leased bool `hidden:""`
	} `cmd:"" default:""`
	Check struct{} `cmd:""`
	Run   struct {
		Command []string `arg:"" optional:"" passthrough:""`
	} `cmd:""`
	Bench struct {
		Load struct {
			Dialect string `enum:",chat,messages" default:"" placeholder:"NAME"`
		} `cmd:""`
		Loads  struct{} `cmd:""`
		Unseen struct{} `cmd:"" hidden:""`
	} `cmd:""`
}

func TestWhatWasMeantIsSaid(t *testing.T) {
	f := func(words, want string) {
		t.Helper()
		args := strings.Split(words, "|")
		program := line.New(line.About{Name: "prog"}, &grammar{})
		_, err := program.Parse(args)
		if err == nil {
			t.Fatalf("%s can be read", words)
		}
		if got := advise(err, args, program); got != want {
			t.Errorf("%s: said\n%s, want\n%s", words, got, want)
		}
	}
	f("chekc", "unexpected argument chekc, did you mean check?")
	f("quux", "unexpected argument quux, the commands are serve, check, run, bench")
	f("quux|check", "unexpected argument quux")
	f("foo", "unexpected argument foo, the commands are serve, check, run, bench")
	f("rnu", "unexpected argument rnu, did you mean run?")
	f("rum", "unexpected argument rum, did you mean run?")
	f("serve|chekc", "unexpected argument chekc")
	f("bench|lod", `unexpected argument lod, did you mean "load"?`)
	f("bench|loa", `unexpected argument loa, did you mean one of "load", "loads"?`)
	f("bench|loads|x", "unexpected argument x")
	f("bench|unsee", "unexpected argument unsee")
	f("bench|quux", "unexpected argument quux")
	f("--mod", `unknown flag --mod, did you mean one of "--mode", "--model"?`)
	f("--lease", `unknown flag --lease, did you mean "--leased"?`)
	f("-x", `unknown flag -x, did you mean "-h"?`)
	f("check|--leased", "unknown flag --leased")
	f("--nothing-like-it", "unknown flag --nothing-like-it")
	f("check|--retention", "unknown flag --retention")
	f("check|--cache-life", "unknown flag --cache-life; the configuration file has rewrite.cache_life, which 'epitome check --defaults' explains")
	f("run|--modl|ls", `unknown flag --modl, did you mean "--mode"?`)
	f("run|-x|ls", "unknown flag -x, which stands before the command to run: its own flags stand behind it")
	f("run|--leased|ls", "unknown flag --leased, which stands before the command to run: its own flags stand behind it")
	f("bench|load|--dialect|chta", `--dialect must be one of "chat","messages" but got "chta", did you mean chat?`)
	f("bench|load|--dialect|quux", `--dialect must be one of "chat","messages" but got "quux"`)
	f("bench", `expected one of "load", "loads"`)
}
