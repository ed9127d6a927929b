package summarize

import (
	"slices"
	"strings"

	"epitome/internal/unit"
	"epitome/summarize/prose"
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
	_, known := details[c.Detail]
	mayAsk := prose.Style{Mode: c.Mode}.MayAsk()
	switch {
	case !known:
		return wrong("detail", "%q: write one of %s", c.Detail, strings.Join(prose.Details(), ", "))
	case !slices.Contains([]string{PrepareAuto, PrepareOn, PrepareOff}, c.Prepare):
		return wrong("prepare", "%q: write auto, on or off", c.Prepare)
	case c.Upstream != "" && c.Model == "":
		return wrong("upstream", "%q without a model: write summarize.model as well", c.Upstream)
	case c.KeyEnv != "" && c.Upstream == "": // what stands there may be the key itself
		return wrong("key_env", "without the upstream it is for: write summarize.upstream as well")
	case c.Distill && c.Model == "":
		return wrong("distill", "without a model to ask: write summarize.model as well")
	case c.Distill && c.Prepare == PrepareOff:
		return wrong("distill", "with prepare = %q, as distillates are made ahead of need alone: write auto or on", c.Prepare)
	case c.Distill && !mayAsk:
		return wrong("distill", "with mode = %q, in which no model is asked: write auto, hybrid or llm", c.Mode)
	case c.MaxOutput < minOutput:
		return wrong("max_output", "%d: write at least %d tokens", c.MaxOutput, minOutput)
	}
	for key, isPositive := range map[string]bool{
		"summary_wait": c.Wait > 0, "summary_timeout": c.Timeout > 0, "jobs": c.Jobs > 0, "queue": c.Queue > 0,
		"tries": c.Tries > 0, "pending": c.Pending > 0,
	} {
		if !isPositive {
			return wrong(key, "with that value: it must be greater than zero")
		}
	}
	return nil
}

func wrong(key, format string, values ...any) error {
	return unit.Wrong([]string{"summarize", key}, "cannot use summarize."+key+" "+format, values...)
}

// minOutput is the smallest cap on an answer in tokens in which a short summary has room.
const minOutput = 512

// details are the tokens that a summary is asked for. DetailTruncate has only the sections about the task.
var details = map[string]int{
	prose.DetailHigh: 3_000, prose.DetailMedium: 1_500, prose.DetailLow: 600, prose.DetailTruncate: 250,
}
