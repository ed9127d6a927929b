package tokenize

import (
	"maps"
	"sync"
)

// Usage is what a provider says a request's prompt was. The two conventions differ in whether cached tokens are in it.
type Usage struct {
	Prompt        int
	CacheRead     int
	CacheWrite    int
	CachedOutside bool // Anthropic's form: Prompt holds neither CacheRead nor CacheWrite
}

// Tokens is the size of the whole prompt.
func (u Usage) Tokens() int {
	if u.CachedOutside {
		return u.Prompt + u.CacheRead + u.CacheWrite
	}
	return u.Prompt
}

const (
	weight     = 0.2 // of a new sample against all before it
	leastCount = 500 // tokens below which the fixed parts drown the rest
	leastRatio = 1.0 / 3
	mostRatio  = 3.0
)

// Calibration is what the answers of one model at one upstream have shown: tokens as the provider counts them for each
// token counted here.
type Calibration struct {
	Ratio   float64
	Samples int
}

// With is the calibration after one more answer. counted must be the plain count of exactly the request that was sent,
// without any ratio: fed with its own corrections the ratio would run away. Small requests and figures that cannot be
// right teach nothing.
func (c Calibration) With(counted int, u Usage) Calibration {
	actual := u.Tokens()
	if counted < leastCount || actual < leastCount {
		return c
	}
	ratio := float64(actual) / float64(counted)
	switch {
	case ratio < leastRatio || ratio > mostRatio:
		return c
	case c.Samples == 0:
		return Calibration{ratio, 1}
	}
	return Calibration{c.Ratio + weight*(ratio-c.Ratio), c.Samples + 1}
}

// Line is one model at one upstream.
type Line struct{ Upstream, Model string }

// Calibrator keeps a calibration for each line, for at most so many lines as NewCalibrator says. Its methods may be
// called from any goroutine.
type Calibrator struct {
	most int

	mu    sync.Mutex
	lines map[Line]Calibration
}

// NewCalibrator begins with what an earlier Snapshot held.
func NewCalibrator(most int, known map[Line]Calibration) *Calibrator {
	c := &Calibrator{most: most, lines: make(map[Line]Calibration)}
	for l, k := range known {
		if len(c.lines) < most && k.Samples > 0 && k.Ratio >= leastRatio && k.Ratio <= mostRatio { // what was kept may be damaged
			c.lines[l] = k
		}
	}
	return c
}

// Learn takes an answer's usage; see Calibration.With.
func (c *Calibrator) Learn(l Line, counted int, u Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, ok := c.lines[l]
	learned := old.With(counted, u)
	if learned == old {
		return
	}
	if !ok && len(c.lines) >= c.most {
		for k := range c.lines { // any one: there are this many lines only if a client makes names up
			delete(c.lines, k)
			break
		}
	}
	c.lines[l] = learned
}

// Ratio is the best known ratio for a line: learned, or the model's own.
func (c *Calibrator) Ratio(l Line, m Model) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.lines[l]; ok {
		return k.Ratio
	}
	return m.Ratio
}

// Snapshot is everything learned, to be kept over a restart.
func (c *Calibrator) Snapshot() map[Line]Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.lines)
}

// Estimate is the size of a prompt: of a prefix that an answer has told the size of, and of what has been added since,
// as counted. Without such a prefix, known is 0 and added is everything.
func Estimate(known, added int, ratio float64) int {
	return known + int(float64(added)*ratio+0.5)
}
