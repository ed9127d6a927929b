package rewrite

// Rescue says that a request was refused in the form that was decided for it. Another form then takes the place of that one.
type Rescue struct {
	Sent  int   // tokens of the model that it had, as they were reported
	Most  int   // tokens of the model that the request may take
	From  Stage // the first stage to try
	Whole bool  // its structure was refused: all goes on as it came

	Ratio   float64 // by which it was counted, and how many answers had shown it, as they were reported
	Answers int
}

// Stage is a step of rung 4. Each one takes away more than the one before.
type Stage uint8

// The stages.
const (
	StageNone    Stage = iota
	StageClear         // all old results are cleared
	StageCompact       // old turns become a summary, with as little of the rest as must be
	StageShort         // results are cut to some 4 000 characters, those that are spent to 500
	StageShorter       // all results are cut to some 500 characters
	StageBare          // calls and results are left out altogether
)

func (s Stage) String() string {
	return [...]string{"none", "clear", "compact", "short", "shorter", "bare"}[s]
}

// within is a window that is no larger than what the refused request may take.
func (r *Rescue) within(window, usable int) (int, int) {
	if r == nil || r.Most <= 0 {
		return window, usable
	}
	return min(window, r.Most+r.Most/4), min(usable, r.Most)
}

// climb takes one stage after another until the request fits. If that does not make it a tenth smaller, nothing has changed.
func (p *plan) climb() (reason string) {
	if p.rescue.Whole {
		clear(p.forms)
		return "the structure of what was sent was refused: it goes on as it came"
	}
	if p.stable == 0 {
		return "there is nothing that could be left out"
	}
	total := p.total()
	if have := p.models(total); p.rescue.Sent > 0 && have <= p.rescue.Most && float64(have) < (1-leastGain)*float64(p.rescue.Sent) {
		p.stage = max(p.rescue.From, StageClear) // an equal request was refused and rescued meanwhile
		return ""
	}
	before := p.checkpoint()
	for p.stage = max(p.rescue.From, StageClear); ; p.stage++ {
		p.take(p.stage)
		if p.total() <= p.usable || p.stage == StageBare {
			break
		}
	}
	if float64(p.total()) > (1-leastGain)*float64(total) {
		p.undo(before)
		p.stage = StageNone
		return "it cannot be made a tenth smaller"
	}
	return ""
}

// take is one stage.
func (p *plan) take(s Stage) {
	switch s {
	case StageClear:
		p.clear(p.clearable(p.stubbed))
	case StageCompact:
		if p.compact(); p.total() > p.usable {
			p.compactHard()
		}
	case StageShort:
		p.shorten(short)
	case StageShorter:
		p.shorten(shorter)
	case StageBare:
		p.bare()
	}
}

// bare leaves out all up to the last tool's or assistant's item.
func (p *plan) bare() {
	c := p.compaction(p.budgets().hard())
	if c.to = c.stable; c.to <= c.from {
		return
	}
	total := c.total()
	c.begun()
	c.replace()
	c.ended(total, "")
}

// settle records what a rescue has decided, once the provider has taken it. A form that was refused as well is never recorded: what
// stood before stands.
func (x *shaping) settle(d *decision) {
	x.aside(func() {
		if err := x.remember(d); err != nil {
			x.out.Report.Err = err
		}
	})
	x.aside(x.conclude)
	if x.out.Report.Err == nil {
		x.aside(x.learn)
	}
}
