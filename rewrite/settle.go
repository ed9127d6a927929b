package rewrite

import (
	"epitome/rewrite/decision"
)

// settle records what a rescue has decided, once the provider has taken it. A form that was refused as well is never recorded: what
// stood before stands.
func (x *run) settle(d *decision.Decision) {
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
