package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Contender is one proxy that takes part.
type Contender struct {
	// Name stands in the report, e.g. "epitome".
	Name string
	// Command is the argv that runs the proxy in the foreground. In each word {listen} becomes the address to listen
	// on (host:port), {upstream} the upstream's base URL without a closing slash, {dir} an empty folder that is
	// removed afterwards. CPU and memory are those of this process, without its children.
	Command []string
	// Ready is the path that answers 200 once the proxy takes requests. Default "/", which goes to the upstream.
	Ready string
	// Rival asks for a table with each figure of the subject beside this contender's, where the run has one.
	Rival bool
	// Leave is how long it may take to leave after SIGTERM, before it is killed. Default 3 s.
	Leave time.Duration

	// prepare writes what Command needs into dir before it starts; nil: nothing.
	prepare func(dir, listen, upstream string) error
}

// Lineup says who takes part in a run and where its progress is told.
type Lineup struct {
	// Proxies are the contenders beside nginx and the bare baseline. The first is the subject: the goals are about it.
	Proxies []Contender
	// Self is the argv prefix that runs the roles of a measurement: Self + "baseline --listen ADDR --upstream URL" must
	// call Baseline, Self + "upstream --listen ADDR" must call Serve. Default: this executable and "bench".
	Self []string
	// Nginx is the nginx binary: a name on PATH or a path. Default "nginx"; "none" leaves it out.
	Nginx string
	// Progress gets a line per step. Default os.Stderr.
	Progress io.Writer
}

// The names in reports of what takes part besides the proxies given.
const (
	DirectName = "direct"
	NginxName  = "nginx"
	BareName   = "bare fasthttp"
)

// WithDefaults returns l with defaults for what was left out. The error says which default there is none for.
func (l Lineup) WithDefaults() (Lineup, error) {
	if len(l.Proxies) == 0 {
		return l, errors.New("cannot measure: no proxy given")
	}
	if l.Self == nil {
		exe, err := os.Executable()
		if err != nil {
			return l, fmt.Errorf("cannot find own executable: %w", err)
		}
		l.Self = []string{exe, "bench"}
	}
	if l.Nginx == "" {
		l.Nginx = "nginx"
	}
	if l.Progress == nil {
		l.Progress = os.Stderr
	}
	return l, nil
}

// Contenders returns the proxies in their order within a round: the subject, nginx, the baseline, any others. The
// second result tells what had to be left out.
func (l Lineup) Contenders() (field []Contender, skipped []string) {
	field = append(field, l.Proxies[0])
	if l.Nginx == "none" {
		skipped = append(skipped, "nginx: left out by request")
	} else if c, err := nginxContender(l.Nginx); err != nil {
		skipped = append(skipped, err.Error())
	} else {
		field = append(field, c)
	}
	field = append(field, Contender{
		Name:    BareName,
		Command: append(append([]string{}, l.Self...), "baseline", "--listen", "{listen}", "--upstream", "{upstream}"),
	})
	return append(field, l.Proxies[1:]...), skipped
}

// Rivals returns the names of the proxies that the subject is to be put beside.
func (l Lineup) Rivals() (names []string) {
	for _, c := range l.Proxies {
		if c.Rival {
			names = append(names, c.Name)
		}
	}
	return names
}

// Say writes a line of progress.
func (l Lineup) Say(format string, args ...any) {
	fmt.Fprintf(l.Progress, "bench: "+format+"\n", args...)
}
