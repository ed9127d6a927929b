package summarize

import (
	"slices"
	"strings"

	"epitome/prose"
	"epitome/unit"
)

// Config is the table [summarize] of config.toml, where each key is explained for users.
type Config struct {
	Mode      string        `toml:"mode"`   // what a summary is made of; package prose lists the modes
	Detail    string        `toml:"detail"` // high, medium, low or truncate
	Model     string        `toml:"model"`  // empty: the conversation's own
	Upstream  string        `toml:"upstream"`
	KeyEnv    string        `toml:"key_env"` // name of the environment variable that holds the key for Upstream
	Distill   bool          `toml:"distill"` // large results, before they are cleared
	Prepare   string        `toml:"prepare"` // ahead of need: auto, on or off; likewise for whoever asks
	Wait      unit.Duration `toml:"summary_wait"`
	Timeout   unit.Duration `toml:"summary_timeout"` // of a job, from when it was first asked for
	Jobs      int           `toml:"jobs"`            // at once
	Queue     int           `toml:"queue"`           // jobs that wait
	Pending   unit.Bytes    `toml:"pending"`         // of conversations that wait or are asked about
	Tries     int           `toml:"tries"`           // of one request that fails for a reason that may pass
	MaxOutput int           `toml:"max_output"`      // tokens of one answer, reasoning included
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
		return unit.Wrong([]string{"summarize", "detail"},
			"cannot use summarize.detail %q: write one of %s", c.Detail, strings.Join(prose.Details(), ", "))
	}
	if !slices.Contains([]string{PrepareAuto, PrepareOn, PrepareOff}, c.Prepare) {
		return unit.Wrong([]string{"summarize", "prepare"},
			"cannot use summarize.prepare %q: write auto, on or off", c.Prepare)
	}
	if c.Upstream != "" && c.Model == "" {
		return unit.Wrong([]string{"summarize", "upstream"},
			"cannot use summarize.upstream %q without a model: write summarize.model as well", c.Upstream)
	}
	if c.KeyEnv != "" && c.Upstream == "" {
		return unit.Wrong([]string{"summarize", "key_env"}, // what stands there may be the key itself
			"cannot use summarize.key_env without the upstream it is for: write summarize.upstream as well")
	}
	if err := c.checkDistill(); err != nil {
		return err
	}
	for _, number := range []struct {
		key   string
		value any
		sound bool
	}{
		{"summary_wait", c.Wait, c.Wait > 0}, {"summary_timeout", c.Timeout, c.Timeout > 0},
		{"jobs", c.Jobs, c.Jobs > 0},
		{"queue", c.Queue, c.Queue > 0}, {"tries", c.Tries, c.Tries > 0}, {"pending", c.Pending, c.Pending > 0},
	} {
		if !number.sound {
			return unit.Wrong([]string{"summarize", number.key},
				"cannot use summarize.%s %v: it must be greater than zero",
				number.key, number.value)
		}
	}
	if c.MaxOutput < leastOutput {
		return unit.Wrong([]string{"summarize", "max_output"},
			"cannot use summarize.max_output %d: write at least %d tokens", c.MaxOutput, leastOutput)
	}
	return nil
}

// checkDistill says why results cannot be distilled, if they are to be.
func (c Config) checkDistill() error {
	switch {
	case !c.Distill:
		return nil
	case c.Model == "":
		return unit.Wrong([]string{"summarize", "distill"},
			"cannot use summarize.distill without a model to ask: write summarize.model as well")
	case c.Prepare == PrepareOff:
		return unit.Wrong([]string{"summarize", "distill"},
			"cannot use summarize.distill with prepare = %q, as distillates are made ahead of need alone: write auto or on",
			c.Prepare)
	case !prose.Style{Mode: c.Mode}.MayAsk():
		return unit.Wrong([]string{"summarize", "distill"},
			"cannot use summarize.distill with mode = %q, in which no model is asked: write auto, hybrid or llm", c.Mode)
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

// details returns the levels of detail.
func details() []detail {
	return []detail{
		{name: prose.DetailHigh, tokens: 3_000},
		{name: prose.DetailMedium, tokens: 1_500},
		{name: prose.DetailLow, tokens: 600},
		{name: prose.DetailTruncate, tokens: 250, task: true},
	}
}

func detailOf(name string) (detail, bool) {
	for _, d := range details() {
		if d.name == name {
			return d, true
		}
	}
	return detail{}, false
}
