package house_test

import "maps"

// outside has the packages that see the program from outside, or stand for what it meets there, and those that bring
// in what is not its own.
var outside = map[string]room{
	"daemon/lending": {
		"offload/contexts rewrite/addition rewrite/decision",
		"it puts files where conversations find them; which conversations ask, and what they are told, must not" +
			" matter",
	},
	"store/lock": {"", "who waits for what must not matter to it"},
	"daemon/memories": {
		"prose rewrite rewrite/conversation rewrite/decision rewrite/history/action rewrite/history/ending" +
			" rewrite/span store summarize/memory summarize/memory/remote",
		"it holds conversations and asks what they teach; how a model is asked, and where that is wired, must be" +
			" replaceable",
	},
	"daemon/lessons": {
		"proxy/ear store tokenize",
		"what was learned of models lies where it is told to; what it is worth must not matter",
	},
	"offload/contexts": {
		"store/lock store/seal",
		"it keeps files by name; what a conversation is, and who is given a file, must not matter",
	},
	"proxy/carried": {
		"proxy/wire",
		"for whom a request is shows in its lines; who asks for that, and what, must not matter",
	},
	"console/inert": {
		"",
		"a text is written for a terminal, whatever it says",
	},
	"command/notes": {
		"config config/configtest console console/chart console/inert console/learned daemon instance store/disk summarize/memory",
		"it lists what epitomes keep, and has it forgotten; how that was learned, and who is told, must not matter;" +
			" store/disk is for its tests",
	},
	"console/learned": {
		"console/access console/reply summarize/memory",
		"it hands on what is kept to its owner; where that lies must not matter",
	},
	"daemon/telling": {
		"console/learned rewrite/addition store store/memory summarize/memory unit",
		"it reads for who is told, and for who looks; how that was learned must not matter; store and unit are for" +
			" its tests",
	},
	"summarize/memory/remote": {
		"summarize/memory",
		"it keeps what it is given with a server; who learns it, and who is told, must not matter",
	},
	"rewrite/folder": {
		"rewrite/chat rewrite/conversation rewrite/messages rewrite/responses rewrite/span",
		"where an agent works shows in what its conversation begins with; dialects are for its tests",
	},
	"rewrite/sent": {
		"event rewrite/conversation rewrite/decision rewrite/plan rewrite/span",
		"what was sent is told by what is recorded; how it came to that must not matter any more",
	},
	"rewrite/runs": {
		"rewrite/conversation rewrite/decision rewrite/history rewrite/history/action rewrite/history/ending" +
			" rewrite/limits rewrite/mark rewrite/plan rewrite/shorten rewrite/span",
		"it writes what stands in the place of results that are cleared; which those are must not matter to it",
	},
	"bench/reading": {
		"bench/names bench/price",
		"what reading back takes is one rule for whoever took something out; what it knew of them could bend it",
	},
	"bench/demo": {
		"bench/demo/props bench/demo/tongue bench/demo/words pattern tokenize",
		"agent and model see epitome from outside, on the wire and in files; what they would share with it they" +
			" could not show of it",
	},
	"bench/demo/words": {
		"",
		"figures are told alike, whatever they are of",
	},
	"scripts/team": {
		"config config/configtest house/missing",
		"what a team installs is held to the program from outside, and to the configuration that the program reads",
	},
	"bench/demo/tongue": {
		"pattern scripted/messages/rules scripted/responses/rules scripted/value",
		"it speaks a dialect for agent and model by the rules of a strict server; with epitome's reading of it, it" +
			" would share its mistakes",
	},
	"bench/demo/props": {
		"",
		"contents are text and dice; demo and bench play with the same ones, and neither may reach the other through" +
			" them",
	},
	"command/release": {
		"",
		"it builds the program from outside, as Go does; what is in the program must not change how it is packed",
	},
	"scripted": {
		"",
		"the scripted upstream stands for a foreign server; knowing the proxy's code, it would share its mistakes",
	},
	"scripted/loopback": {
		"scripted/value",
		"it carries answers of whatever API; what they say must not matter",
	},
	"scripted/messages": {
		"scripted/loopback scripted/messages/account scripted/messages/rules scripted/messages/thought" +
			" scripted/value",
		"it stands for a foreign server and judges what is sent to it; sharing any code, it would share its mistakes",
	},
	"scripted/messages/account": {
		"scripted/messages/rules scripted/value",
		"what is counted stands in the request; how it is answered must not matter",
	},
	"scripted/messages/rules": {
		"pattern scripted/value",
		"a body is refused for what stands in it; neither wire nor memory may sway that",
	},
	"scripted/messages/thought": {
		"scripted/messages/rules scripted/sealed scripted/value",
		"a signature has all that it is judged by; what a server remembers must not be needed",
	},
	"scripted/responses": {
		"scripted/loopback scripted/responses/account scripted/responses/issued scripted/responses/rules" +
			" scripted/value",
		"it stands for a foreign server and judges what is sent to it; sharing any code, it would share its mistakes",
	},
	"scripted/responses/account": {
		"scripted/responses/rules scripted/value",
		"what is counted stands in the request; how it is answered must not matter",
	},
	"scripted/responses/issued": {
		"scripted/responses/rules scripted/sealed scripted/value",
		"it is the memory of a server; neither wire nor size may sway what it knows",
	},
	"scripted/responses/rules": {
		"scripted/value",
		"a body is refused for what stands in it; neither wire nor memory may sway that",
	},
	"scripted/scriptedtest": {
		"scripted scripted/messages scripted/responses",
		"it only ties the scripted upstreams to package testing",
	},
	"scripted/sealed": {
		"scripted/value",
		"what is sealed is for its server to know",
	},
	"scripted/value": {
		"",
		"it reads JSON for servers that stand for foreign ones; with the program's reader, they would share its" +
			" mistakes",
	},
	"summarize/memory": {
		"pattern rewrite/mark store unit",
		"what is remembered is text, of whatever conversation; who is asked for it and who is given it must not" +
			" matter",
	},
	"sdk": {
		"event event/money sdk/sdktest",
		"the SDK test drives the built program from outside, as a user does; only the prices are asked for directly",
	},
	"sdk/agents": {
		"bench/demo/props sdk/sdktest",
		"agents drive the built program from outside, as their users do",
	},
	"sdk/browser": {
		"house/missing sdk/sdktest",
		"a browser sees the built program from outside; what is to be on its pages is known from what was sent and" +
			" from the API",
	},
	"sdk/sdktest": {
		"house/missing",
		"it starts clients and the built program, and must know no more of the program than they do",
	},
}

// joined is one table of several.
func joined(tables ...map[string]room) map[string]room {
	all := map[string]room{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}
