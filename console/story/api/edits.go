package api

import (
	"net/http"
	"strconv"

	"epitome/console/access"
	"epitome/console/reply"
	"epitome/event"
)

// conversationEdits answers with the edits of a conversation's newest request: what of it the model does not see now.
func (a *api) conversationEdits(w http.ResponseWriter, r *http.Request) {
	if !access.Owner(r) {
		refuseStranger(w)
		return
	}
	s, err := a.book.Conversation(r.PathValue("id"))
	if err != nil || len(s.Exchanges) == 0 {
		reply.Refuse(w, http.StatusNotFound, unknownConversation)
		return
	}
	a.giveEdits(w, s.Exchanges[len(s.Exchanges)-1])
}

// exchangeEdits answers with the edits of one request.
func (a *api) exchangeEdits(w http.ResponseWriter, r *http.Request) {
	if !access.Owner(r) {
		refuseStranger(w)
		return
	}
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	e, unknown := a.book.Exchange(seq)
	if err != nil || unknown != nil {
		reply.Refuse(w, http.StatusNotFound, unknownExchange)
		return
	}
	a.giveEdits(w, e)
}

// refuseStranger refuses who may not see what conversations hold.
func refuseStranger(w http.ResponseWriter) {
	reply.Refuse(w, http.StatusForbidden, "edits are shown to the owner alone: log in with the link that epitome open "+
		"prints, or ask with epitome explain")
}

// giveEdits answers with the edits of an exchange.
func (a *api) giveEdits(w http.ResponseWriter, e event.Exchange) {
	edits, err := a.edits(e.Decision)
	if err != nil {
		reply.Refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	if edits.Seq = e.Seq; e.Decision == "" && e.Action == event.ActionBypass {
		edits.Missing = "something failed inside epitome, and how this request was sent is not recorded"
	}
	if edits.Missing != "" && e.Mode == event.ModeObserve {
		edits.Missing = "mode observe keeps no decisions for longer than epitome runs"
	}
	give(w, edits)
}
