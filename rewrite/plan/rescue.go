package plan

// Rescue says that a request was refused in the form that was decided for it. Another form then takes the place of that
// one.
type Rescue struct {
	Sent  int   // tokens of the model that it had, as they were reported
	Most  int   // tokens of the model that the request may take
	From  Stage // the first stage to try
	Whole bool  // its structure was refused: all goes on as it came
	// Unthinking says that what the model thought was refused, as bound to another conversation: all of it goes. If
	// Most is 0, nothing else does.
	Unthinking bool

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
	StageUsers         // messages of the user are left to the transcript, the latest last
)

func (s Stage) String() string {
	return [...]string{"none", "clear", "compact", "short", "shorter", "bare", "users"}[s]
}

// Next is the stage from which a rescue goes on when the form of this one was refused. last says that there is no other
// try.
func (s Stage) Next(last bool) Stage {
	switch {
	case s >= StageBare:
		return StageUsers
	case last:
		return StageBare
	}
	return max(s, StageClear)
}

// Within is a window that is no larger than what the refused request may take.
func (r *Rescue) Within(window, usable int) (int, int) {
	if r == nil || r.Most <= 0 {
		return window, usable
	}
	return min(window, r.Most+r.Most/4), min(usable, r.Most)
}
