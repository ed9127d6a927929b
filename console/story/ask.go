package story

import (
	"errors"
	"time"
)

// Span is which exchanges a Summary is of.
type Span struct {
	From, To time.Time // zero: from the beginning, and until now
	By       string    // of the rows: day, hour, model, upstream, client or conversation; empty: day
}

// What a list of conversations may be sorted by.
const (
	SortLast   = "last" // when the last exchange was
	SortTurns  = "turns"
	SortTokens = "tokens" // of the newest request, as it was sent
	SortShare  = "share"
	SortCached = "cached"
	SortBilled = "billed"
	SortSaved  = "saved"
)

// Listing is which conversations are asked for, and in what order.
type Listing struct {
	Cursor string // Next of the page before; empty: from the beginning
	Limit  int    // how many at most; 0, and more than 100: 100
	Sort   string // empty: last
	Rising bool   // the least first
	Match  string // a part of the id, the model or the upstream, in whatever case; empty: all
	Live   bool   // only those with an exchange in the last ten minutes
}

// Which is which conversation a status line is about. The zero value is the one used last.
type Which struct {
	ID      string
	Session string // as the client calls it: the one used last there
}

// ErrUnknown says that nothing is known under an id, a number or a cursor: it never was, or it is not kept any more.
var ErrUnknown = errors.New("nothing is known of it: it never was, or it is not kept any more")
