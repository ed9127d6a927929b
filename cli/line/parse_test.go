package line_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"epitome/cli/line"
)

// common are flags of each command below them.
type common struct {
	Config string `group:"general" placeholder:"FILE" help:"Where settings are."`
	Mode   string `group:"general" placeholder:"MODE" words:"on,off" help:"What is done. Default: on."`
}

// verdict has flags that several commands share.
type verdict struct {
	JSON  bool `help:"Print JSON."`
	Check bool `group:"develop" help:"Fail where a goal is missed."`
}

// grammar is a program with all that a command line may have.
type grammar struct {
	ShowHelp line.Asked `name:"help" short:"h" help:"Show this."`
	common
	ShowVersion line.Asked `name:"version" help:"Show which program it is."`

	Serve struct {
		Leased bool              `hidden:"" help:"End with the last user."`
		Base   map[string]string `hidden:"" placeholder:"NAME=URL" help:"Further ones."`
	} `cmd:"" default:"" help:"Serve what comes."`
	Run struct {
		Command []string `arg:"" optional:"" passthrough:"" help:"What to run."`
	} `cmd:"" help:"Run something else."`
	Bench struct {
		Load  load     `cmd:"" group:"develop" help:"Measure how long a request takes."`
		Files files    `cmd:"" help:"Read files of a name, one after the other, and say of each what it holds."`
		Inner struct{} `cmd:"" hidden:"" help:"Nothing to see."`
	} `cmd:"" help:"Measure something."`
	Shell struct {
		Name string `arg:"" enum:"bash,zsh" help:"The shell."`
	} `cmd:"" help:"Say something for a shell."`

	unseen int
}

type load struct {
	verdict
	Against  []string  `placeholder:"FILE" help:"Compare with these."`
	Dialect  string    `placeholder:"NAME" enum:",chat,messages" default:"" help:"What is spoken."`
	How      string    `placeholder:"HOW" enum:"fast,slow" default:"fast" help:"How it is done. Default: ${default}."`
	AtOnce   int       `default:"8" help:"How many at once. Default: ${default}."`
	Rounds   uint      `default:"12" help:"How often."`
	Seed     uint64    `default:"1" help:"What chance begins with."`
	Minutes  float64   `default:"2" help:"How long."`
	Since    time.Time `placeholder:"TIME" help:"From when on."`
	Lines    span      `placeholder:"A-B" help:"Which lines."`
	FirstOne bool      `xor:"which" help:"Only the first."`
	Last     bool      `xor:"which" help:"Only the last."`
}

type files struct {
	verdict
	Name  string   `arg:"" help:"The name."`
	Paths []string `arg:"" optional:"" name:"path" placeholder:"PATHS" help:"The files."`
}

// span is a value that may begin with a dash.
type span string

// Decode takes any word.
func (s *span) Decode(words *line.Words) error {
	word, ok := words.Next()
	if !ok {
		_, err := words.Value("span")
		return err
	}
	*s = span(word)
	return nil
}

func newProgram(into *grammar) *line.Command {
	return line.New(line.About{Name: "prog", Help: "A program that does much.", Groups: []line.Group{
		{Key: "general", Title: "For all commands:"}, {Key: "develop", Title: "For who works on it:"}}}, into)
}

// read is what comes of a line whose words are separated by bars: the command, and what it was given, as JSON; or a
// question mark and the flag that asks for a text; or the error.
func read(words string) string {
	g := grammar{unseen: 1}
	var args []string
	if words != "" {
		args = strings.Split(words, "|")
	}
	parsed, err := newProgram(&g).Parse(args)
	switch {
	case err != nil:
		return err.Error()
	case parsed.Asked != nil:
		return "? " + parsed.Asked.Name + " " + parsed.Command.Path()
	}
	given, err := json.Marshal(parsed.Command.Target())
	if err != nil {
		return err.Error()
	}
	return parsed.Command.Path() + " " + string(given) + " " + g.Config + g.Mode
}

// reading returns an f-test in which a part of what comes of a line is wanted.
func reading(t *testing.T) func(words, want string) {
	return func(words, want string) {
		t.Helper()
		if got := read(words); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s, want\n%s", words, got, want)
		}
	}
}

func TestCommandsAreFound(t *testing.T) {
	f := reading(t)
	f("", "serve {")
	f("serve", "serve {")
	f("--mode|off", `serve {"Leased":false,"Base":null} off`)
	f("--mode|off|run|ls", `run {"Command":["ls"]} off`)
	f("bench|load|--mode=off", `"Last":false} off`)
	f("bench|inner", "bench inner {}")
	f("--leased|--base|a=b", `serve {"Leased":true,"Base":{"a":"b"}}`)
	f("--|run|--|x", `run {"Command":["--","x"]}`)

	f("nosuch", "unexpected argument nosuch")
	f("serve|more", "unexpected argument more")
	f("bench|lod", "unexpected argument lod")
	f("bench", `expected one of "load", "files"`)
	f("--leased|bench|load", `flag --leased applies to the default command "serve", not "bench"`)
	f("--nosuch", "unknown flag --nosuch")
	f("bench|--json|load", "unknown flag --json")
	f("run|-x|ls", "unknown flag -x")
	f("--=3", "unknown flag --")
}

func TestValuesAreRead(t *testing.T) {
	f := reading(t)
	f("bench|load", `{"JSON":false,"Check":false,"Against":null,"Dialect":"","How":"fast","AtOnce":8,"Rounds":12,"Seed":1,`+
		`"Minutes":2,"Since":"0001-01-01T00:00:00Z","Lines":"","FirstOne":false,"Last":false}`)
	f("bench|load|--json", `"JSON":true`)
	f("bench|load|--json=Yes", `"JSON":true`)
	f("bench|load|--json|--json=0", `"JSON":false`)
	f("bench|load|--json=maybe", `--json: bool value must be true, 1, yes, false, 0 or no but got "maybe"`)
	f("bench|load|--at-once|-5", `"AtOnce":-5`)
	f("bench|load|--at-once=7|--at-once|9", `"AtOnce":9`)
	f("bench|load|--at-once|many", `--at-once: cannot read "many": write a whole number`)
	f("bench|load|--at-once", `flag --at-once needs a value, such as 8`)
	f("bench|load|--rounds|0x10|--seed=1_000", `"Rounds":16,"Seed":1000`)
	f("bench|load|--rounds|x", `--rounds: expected a valid 64 bit uint but got "x"`)
	f("bench|load|--seed|-1", `--seed: expected uint value but got "-1" (short flag); perhaps try --seed="-1"?`)
	f("bench|load|--minutes|.5", `"Minutes":0.5`)
	f("bench|load|--minutes=x", `--minutes: expected a float but got "x" (string)`)
	f("bench|load|--since|2026-11-20T10:00:00Z", `"Since":"2026-11-20T10:00:00Z"`)
	f("bench|load|--since|--json", `--since: expected value value but got "--json" (long flag); perhaps try --since="--json"?`)
	f("bench|load|--since", `flag --since needs a value: TIME`)
	f("bench|load|--lines|-20", `"Lines":"-20"`)
	f("bench|load|--lines=-20", `"Lines":"-20"`)
	f("bench|load|--lines", `flag --lines needs a value: A-B`)
	f("--config|a b|--mode=x=y", "} a bx=y")
	f("--config|-", "} -")
	f("--config|", "} ")
	f("--config|--mode", `--config: expected string value but got "--mode" (long flag); perhaps try --config="--mode"?`)
	f("--config=--mode", "} --mode")
	f("--config|--", `expected string value but got "--" (long flag)`)
	f("--config", `flag --config needs a value: FILE`)
}

func TestListsAreRead(t *testing.T) {
	f := reading(t)
	f("bench|load|--against|a,b|--against=c", `"Against":["a","b","c"]`)
	f(`bench|load|--against|a\,b,,c\d,e\\,`, `"Against":["a,b","","c\\d","e\\\\"]`)
	f("bench|load|--against=-a,--b", `"Against":["-a","--b"]`)
	f("bench|load|--against|a,-b", `--against: expected string value but got "-b" (short flag); perhaps try --against="-b"?`)
	f("bench|load|--against", `flag --against needs a value: FILE,...`)
	f("--base|a=b;c=d=e|--base=a=;f=", `"Base":{"a":"","c":"d=e","f":""}`)
	f(`--base|a=b\;c`, `"Base":{"a":"b;c"}`)
	f("--base|a", `--base: expected "<key>=<value>" but got "a"`)
	f("--base|-a=b", `--base: expected map value but got "-a=b" (short flag)`)
	f("--base", `flag --base needs a value: NAME=URL`)
}

func TestArgumentsAreRead(t *testing.T) {
	f := reading(t)
	f("bench|files|n", `"Name":"n","Paths":null`)
	f("bench|files|n|a,b|-|--json", `"JSON":true,"Check":false,"Name":"n","Paths":["a,b","-"]`)
	f("bench|files|--json|n|--|--json|--", `"Name":"n","Paths":["--json","--"]`)
	f("bench|files|--|-n", `"Name":"-n"`)
	f("bench|files|n|a|--json|b", "unexpected argument b")
	f("bench|files", `expected "<name>"`)
	f("run", `run {"Command":null}`)
	f("run|ls|--mode|-x|--|y", `run {"Command":["ls","--mode","-x","--","y"]}`)
	f("run|--mode|off|--|-x", `run {"Command":["--","-x"]} off`)
	f("shell", `expected "<name>"`)
	f("shell|zsh", `shell {"Name":"zsh"}`)
	f("shell|tcsh", `<name> must be one of "bash","zsh" but got "tcsh"`)
}

func TestChoicesAreHeld(t *testing.T) {
	f := reading(t)
	f("bench|load|--dialect|chat|--how|slow", `"Dialect":"chat","How":"slow"`)
	f("bench|load|--dialect=", `"Dialect":""`)
	f("bench|load|--dialect|Chat", `--dialect must be one of "chat","messages" but got "Chat"`)
	f("bench|load|--how=", `--how must be one of "fast","slow" but got ""`)
	f("bench|load|--first-one|--last", "--first-one and --last can't be used together")
	f("bench|load|--last", `"Last":true`)
}

func TestTextsAreAskedFor(t *testing.T) {
	f := reading(t)
	f("--help", "? help ")
	f("-h|bench|load|--dialect|x", "? help bench load")
	f("bench|-hh", "? help bench")
	f("--version|-h", "? version ")
	f("shell|-h", "? help shell")
	f("run|ls|--help", `{"Command":["ls","--help"]}`)
	f("--help|nosuch", "unexpected argument nosuch")
	f("--help=maybe", "--help: bool value must be")
	f("-hx", "unknown flag -x")
	f("-é", "unknown flag -é")
}
