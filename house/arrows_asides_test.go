package house_test

// asides has the packages of calls that epitome answers within an answer, and what hears the tokens of its rounds.
var asides = map[string]room{
	"daemon/asides": {
		"console/recall rewrite/aside rewrite/chat/aside rewrite/messages/aside rewrite/responses/aside store",
		"records and answers of asides are wired whatever the proxy does; knowing a request, they could not be" +
			" common to all",
	},
	"proxy/aside": {
		"event proxy/wire rewrite/aside sse",
		"how rounds become one answer on the wire does not depend on who asked, or on what a round is sent as",
	},
	"rewrite/aside": {
		"rewrite/conversation rewrite/span sse",
		"what asides have in common must hold in each dialect; where records lie, and who answers a call, is plugged" +
			" in",
	},
	"rewrite/chat/aside": {
		"rewrite/aside rewrite/conversation rewrite/span",
		"it is the dialect's part of asides; what it knew of a rung, or of the wire, each dialect would have to know",
	},
	"proxy/ear": {
		"event proxy/wire rewrite/spent",
		"what is heard is the same whoever asked; what is learned from it is the exchange's",
	},
	"rewrite/messages/aside": {
		"rewrite/aside rewrite/conversation rewrite/span",
		"as for rewrite/chat/aside; two dialects that knew one another would be one",
	},
	"rewrite/responses/aside": {
		"rewrite/aside rewrite/conversation rewrite/span",
		"as for rewrite/chat/aside and rewrite/messages/aside",
	},
}
