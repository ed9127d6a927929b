package summarize

import (
	"fmt"
	"slices"
	"time"
)

// Config is the table [summarize] of config.toml, where each key is explained for users.
type Config struct {
	Mode         Mode   `toml:"mode"`
	Detail       Detail `toml:"detail"`
	Model        string `toml:"model"` // empty: the conversation's own
	Upstream     string `toml:"upstream"`
	KeyEnv       string `toml:"key_env"`      // name of the environment variable that holds the key for Upstream
	Prepare      string `toml:"prepare"`      // whether a model is asked ahead of need: auto, on or off
	Instructions string `toml:"instructions"` // of the user, for each summary by a model
	Distill      bool   `toml:"distill"`      // a model is asked for distillates of large results

	Limits *Limits `toml:"-"` // nil: DefaultLimits
}

// The values of Config.Prepare.
const (
	PrepareAuto = "auto" // unless the upstream that is asked is a local one
	PrepareOn   = "on"
	PrepareOff  = "off"
)

// Check says what is wrong with the configuration.
func (c Config) Check() error {
	if _, err := ParseMode(string(c.Mode)); err != nil {
		return wrong("mode", "%q: %w", c.Mode, err)
	}
	if _, err := ParseDetail(string(c.Detail)); err != nil && c.Detail != "" {
		return wrong("detail", "%q: %w", c.Detail, err)
	}
	switch {
	case !slices.Contains([]string{PrepareAuto, PrepareOn, PrepareOff}, c.Prepare):
		return wrong("prepare", "%q: write auto, on or off", c.Prepare)
	case c.Upstream != "" && c.Model == "":
		return wrong("upstream", "%q without a model: write summarize.model as well", c.Upstream)
	case c.KeyEnv != "" && c.Upstream == "": // what stands there may be the key itself
		return wrong("key_env", "without the upstream it is for: write summarize.upstream as well")
	}
	return nil
}

func wrong(key, format string, values ...any) error {
	return fmt.Errorf("cannot use summarize."+key+" "+format, values...)
}

// Limits bound what summaries may cost in time, memory and requests.
type Limits struct {
	Wait      time.Duration // that a client's request waits for a summary, its retries included
	Timeout   time.Duration // of a job, from when it was first asked for
	Jobs      int           // at once
	Queue     int           // jobs that wait for their turn
	Pending   int64         // bytes of conversations that wait or are asked about
	Tries     int           // requests in vain in a conversation before the model is paused in it
	MaxOutput int           // tokens of one answer, reasoning included
}

// DefaultLimits returns the limits that the program runs with. A request waits longer than most models need, and less
// than most clients wait; a conversation needs a summary now and then, so four jobs at once serve many.
func DefaultLimits() Limits {
	return Limits{
		Wait: time.Minute, Timeout: 5 * time.Minute, Jobs: 4, Queue: 16, Pending: MaxPending, Tries: 2, MaxOutput: 8_000,
	}
}

// MaxPending is DefaultLimits' bound on the bytes of conversations in memory.
const MaxPending = 256 << 20

// Tokens of an answer: the smallest cap in which a short summary has room, and the length that a summary is asked for.
const (
	minOutput     = 512
	summaryTokens = 1_500
)
