package summarize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/unit"
)

// Config is the table [summarize] of config.toml, where each key is explained for users.
type Config struct {
	Mode      string        `toml:"mode"`   // what a summary is made of; whoever asks decides when, and says which there are
	Detail    string        `toml:"detail"` // high, medium, low or truncate
	Model     string        `toml:"model"`  // empty: the conversation's own
	Upstream  string        `toml:"upstream"`
	KeyEnv    string        `toml:"key_env"` // name of the environment variable that holds the key for Upstream
	Prepare   string        `toml:"prepare"` // ahead of need: auto, on or off; likewise for whoever asks
	Wait      unit.Duration `toml:"summary_wait"`
	Timeout   unit.Duration `toml:"summary_timeout"` // of a job, from when it was first asked for
	Jobs      int           `toml:"jobs"`            // at once
	Queue     int           `toml:"queue"`           // jobs that wait
	Pending   unit.Bytes    `toml:"pending"`         // of conversations that wait or are asked about
	Tries     int           `toml:"tries"`           // of one request that fails for a reason that may pass
	MaxOutput int           `toml:"max_output"`      // tokens of one answer, reasoning included
}

// Details are the values of Config.Detail.
func Details() (names []string) {
	for _, d := range details() {
		names = append(names, d.name)
	}
	return names
}

// The values of Config.Prepare.
const (
	PrepareAuto = "auto" // unless the upstream that is asked is a local one
	PrepareOn   = "on"
	PrepareOff  = "off"
)

// Check says what is wrong with the configuration.
func (c Config) Check() error {
	if _, ok := detailOf(c.Detail); !ok {
		return fmt.Errorf("cannot use summarize.detail %q: write one of %s", c.Detail, strings.Join(Details(), ", "))
	}
	if !slices.Contains([]string{PrepareAuto, PrepareOn, PrepareOff}, c.Prepare) {
		return fmt.Errorf("cannot use summarize.prepare %q: write auto, on or off", c.Prepare)
	}
	if c.Upstream != "" && c.Model == "" {
		return fmt.Errorf("cannot use summarize.upstream %q without a model: write summarize.model as well", c.Upstream)
	}
	if c.KeyEnv != "" && c.Upstream == "" {
		return errors.New("cannot use summarize.key_env without the upstream it is for: write summarize.upstream as well") // what stands there may be the key itself
	}
	if min(c.Wait, c.Timeout) <= 0 || min(c.Jobs, c.Queue, c.Tries) <= 0 || c.Pending <= 0 {
		return fmt.Errorf("cannot use summarize.summary_wait %v, summary_timeout %v, jobs %d, queue %d, tries %d, pending %v: each must be greater than zero",
			c.Wait, c.Timeout, c.Jobs, c.Queue, c.Tries, c.Pending)
	}
	if c.MaxOutput < leastOutput {
		return fmt.Errorf("cannot use summarize.max_output %d: write at least %d tokens", c.MaxOutput, leastOutput)
	}
	return nil
}

// leastOutput is the smallest cap on an answer in tokens in which a short summary has room.
const leastOutput = 512

// detail is a row of the table of levels.
type detail struct {
	name   string
	tokens int  // that are asked for, about
	task   bool // only the sections that tell the task
}

// details is the table.
func details() []detail {
	return []detail{{name: "high", tokens: 3_000}, {name: "medium", tokens: 1_500}, {name: "low", tokens: 600}, {name: "truncate", tokens: 250, task: true}}
}

func detailOf(name string) (detail, bool) {
	for _, d := range details() {
		if d.name == name {
			return d, true
		}
	}
	return detail{}, false
}
