package plan

// Sequence is the order of a plan's messages while many items change, one after the other. Each change is looked at
// where it is made, up to where the order is as before: what BreaksOrder says after each of them costs no more than all
// of them together. Who changes the order otherwise makes a new one.
type Sequence struct {
	plan   *Plan
	places []place
	more   map[pair]int // misplaced messages as planned, less those that came so
	broken int          // kinds of which there are more than came
	undo   []change
}

// place is an item of all in the order.
type place struct {
	before spoken // what it stands behind
	says   spoken
	sent   bool
}

// change is a place as it was.
type change struct {
	item int
	was  place
}

// SequenceOf is the order of the plan as it stands.
func SequenceOf(p *Plan) *Sequence {
	s := &Sequence{plan: p, places: make([]place, len(p.Req.Items)), more: map[pair]int{}}
	for kind, n := range misplaced(p, nil) {
		s.more[kind] = -n
	}
	var before spoken
	for i := range s.places {
		at := &s.places[i]
		at.before = before
		at.says, at.sent = sentAs(p, p.Forms, i)
		s.count(at, 1)
		before = at.next()
	}
	return s
}

// next is what the item behind this one stands behind.
func (at *place) next() spoken {
	if !at.sent {
		return at.before
	}
	return at.says.behind(at.before)
}

// count counts a place n times, if its message is misplaced.
func (s *Sequence) count(at *place, n int) {
	if !at.sent || at.says.mayFollow(s.plan, at.before) {
		return
	}
	kind := pair{at.before, at.says}
	was := s.more[kind]
	s.more[kind] = was + n
	switch {
	case was <= 0 && was+n > 0:
		s.broken++
	case was > 0 && was+n <= 0:
		s.broken--
	}
}

// Stands reports whether the message may stand in the place of the items from from to to behind the head, or nothing if
// that is empty. If so, they are taken to be sent so from now on.
func (s *Sequence) Stands(from, to int, message string) bool {
	now := place{sent: message != ""}
	if now.sent {
		now.says = spoken{role: roleOf(s.plan, message)}
	}
	s.undo = s.undo[:0]
	s.change(from, to, now)
	if s.broken == 0 {
		return true
	}
	for k := len(s.undo) - 1; k >= 0; k-- {
		s.set(s.undo[k].item, s.undo[k].was)
	}
	return false
}

// Unthought notes that item i behind the head is sent without what was thought in it.
func (s *Sequence) Unthought(i int) {
	now := s.places[s.plan.Req.Head+i]
	now.says.thinks = false
	s.undo = s.undo[:0]
	s.change(i, i+1, now)
}

// change has the items from from to to say what now does, once, and those behind them stand behind that.
func (s *Sequence) change(from, to int, now place) {
	from, to = s.plan.Req.Head+from, s.plan.Req.Head+to
	before := s.places[from].before
	for i := from; i < len(s.places); i++ {
		at := s.places[i]
		if i >= to && at.before == before {
			return
		}
		switch {
		case i == from:
			at = now
		case i < to:
			at.sent = false
		}
		at.before = before
		s.undo = append(s.undo, change{i, s.places[i]})
		s.set(i, at)
		before = at.next()
	}
}

// set puts item i of all into another place.
func (s *Sequence) set(i int, at place) {
	s.count(&s.places[i], -1)
	s.places[i] = at
	s.count(&at, 1)
}
