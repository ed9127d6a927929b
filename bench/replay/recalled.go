package replay

// presence is how a request holds what is needed.
type presence uint8

const (
	absent    presence = iota
	bare               // in a text that is none of the client's, and on no line that is one
	inContext          // in a client's message that is there whole, or on a line of one, word for word
)

// recalled is how many of the needs of one answer its request meets.
type recalled struct {
	all, recent, older share // names, in context
	bare, bareOlder    share // names that stand there bare; of the same as all and older
	lines              share
}

// count takes one need in. over says that the request does not fit: then it meets none.
func (r *recalled) count(n need, in presence, over bool) {
	met, isBare := in == inContext && !over, in == bare && !over
	if n.line {
		r.lines.count(met)
		return
	}
	r.all.count(met)
	r.bare.count(isBare)
	if n.age <= recentGroups {
		r.recent.count(met)
		return
	}
	r.older.count(met)
	r.bareOlder.count(isBare)
}

// recall is recalled of many answers: each one's share counts alike.
type recall struct {
	all, recent, older mean
	bare, bareOlder    mean
	lines              mean
}

func (r *recall) add(x recalled) {
	r.all.add(x.all)
	r.recent.add(x.recent)
	r.older.add(x.older)
	r.bare.add(x.bare)
	r.bareOlder.add(x.bareOlder)
	r.lines.add(x.lines)
}

func (r *recall) join(x recall) {
	r.all.join(x.all)
	r.recent.join(x.recent)
	r.older.join(x.older)
	r.bare.join(x.bare)
	r.bareOlder.join(x.bareOlder)
	r.lines.join(x.lines)
}
