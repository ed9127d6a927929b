package recap

import (
	"epitome/rewrite/history"
	"epitome/rewrite/recap/fate"
	"epitome/rewrite/recap/past"
)

// calls tells of the calls of a span, part by part: none twice.
type calls struct {
	span   *past.Span
	fates  *fate.Calls
	isTold map[*history.Result]bool // those that stand among failures or refused calls

	notices map[string]string // of the client, by the names of tasks
}

// tellCalls follows the calls of the span.
func tellCalls(s *past.Span) *calls {
	return &calls{span: s, fates: fate.In(s), isTold: map[*history.Result]bool{}, notices: notices(s)}
}
