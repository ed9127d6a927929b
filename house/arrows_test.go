package house_test

// room is the place of one package folder: the packages of this project it may import, and why no others.
type room struct {
	imports string // folders, separated by spaces; "." is main
	why     string
}

// house has every package folder. Tests may import the scripted upstream, event and unit besides.
var house = joined(map[string]room{
	".": {
		"command command/commandtest",
		"main is where the program begins and ends; what it did itself, no test could call",
	},
	"bench/backend": {
		"bench/wire tokenize",
		"it stands for a foreign server; knowing who is measured, it could favour one; tokenize is for its tests",
	},
	"bench/baselines": {
		"bench/names bench/policy bench/price rewrite/conversation rewrite/span",
		"what is compared with must not know what it is compared with, nor who measures",
	},
	"bench/benchtest": {
		"bench/policy",
		"it has conversations and shapers for tests; knowing a replay, no replay could be tested with it",
	},
	"bench/burst": {
		"bench/backend bench/lineup bench/report bench/wire",
		"it measures the memory of proxies from outside; with the proxy's code in it, it would measure its own",
	},
	"bench/cancel": {
		"bench/backend bench/lineup bench/report bench/wire",
		"it measures proxies from outside, on the wire; with the proxy's code in it, it would measure something else",
	},
	"bench/counting": {
		"bench/report bench/samples tokenize",
		"it measures how fast tokens are counted, and nothing that uses the counts",
	},
	"bench/cputime": {
		"",
		"it measures whatever it is handed; what it knew of that could not be measured with it",
	},
	"bench/differ": {
		"bench/sessions",
		"it compares builds from outside, on the wire and in files; with code of the one it is built from, it would" +
			" judge by it",
	},
	"bench/lineup": {
		"bench/wire",
		"contenders are processes that are reached on the wire; knowing what is measured of them, it could treat" +
			" them differently",
	},
	"bench/lineup/lineuptest": {
		"bench/backend bench/lineup",
		"it lets test binaries play the roles of a lineup",
	},
	"bench/load": {
		"bench/backend bench/lineup bench/report bench/wire",
		"it measures proxies from outside, on the wire; with the proxy's code in it, it would measure something else",
	},
	"bench/names": {
		"",
		"what is a name is one rule for whoever measures and for policies made of names; what it knew of them could" +
			" bend it",
	},
	"bench/page": {
		"bench/replay/figures bench/report console/chart",
		"a page shows a report; what it worked out itself would be a second truth",
	},
	"bench/policy": {
		"bench/price rewrite/conversation",
		"it has the words in which replays and policies speak; knowing one of them, it would suit that one",
	},
	"bench/price": {
		"event/money rewrite/conversation tokenize",
		"a price is a function of the request, in tokens as they are served; with a policy in it, it would suit that" +
			" one",
	},
	"bench/replay": {
		"bench/baselines bench/cputime bench/names bench/policy bench/price bench/reading bench/replay/figures" +
			" bench/report bench/sessions bench/signal bench/strict console/chart pattern rewrite/chat rewrite/conversation" +
			" rewrite/messages rewrite/responses rewrite/span",
		"what is replayed is plugged in as policies; what it knew of one of them it could favour",
	},
	"bench/replay/figures": {
		"bench/baselines bench/report console/chart",
		"figures are told as they are; how they came about must not matter, and of policies it knows which are" +
			" baselines",
	},
	"bench/redis": {
		"bench/lineup",
		"it runs another program; what epitome keeps there is not its business",
	},
	"bench/report": {
		"",
		"every measurement may use it",
	},
	"bench/samples": {
		"",
		"it is the program that makes the samples, and none of the program that counts them",
	},
	"bench/sessions": {
		"bench/demo/props pattern rewrite/chat rewrite/conversation",
		"it reads or makes up conversations as their clients had them; with what shapes or counts them in it, they" +
			" would suit what is measured",
	},
	"bench/signal": {
		"pattern",
		"it is the measure's own reading of outputs; what it knew of the program's it would repeat",
	},
	"bench/soak": {
		"bench/lineup bench/redis bench/report bench/sessions bench/strict pattern",
		"it watches the program from outside, on the wire and in files; with the program's code in it, it would" +
			" share its mistakes",
	},
	"bench/strict": {
		"pattern scripted/messages/account scripted/messages/rules scripted/messages/thought scripted/responses/account" +
			" scripted/responses/issued scripted/responses/rules scripted/value",
		"it judges what is sent by a server that shares nothing with the program; with its readers, it would share" +
			" their mistakes",
	},
	"bench/subject": {
		"bench/policy bench/price bench/replay bench/replay/figures bench/through config daemon event offload pattern" +
			" prose proxy/route rewrite rewrite/conversation rewrite/limits rewrite/plan store store/memory summarize" +
			" tokenize unit window window/overflow",
		"it is epitome as a replay sees it, put together as the daemon does it; replay and through are for its" +
			" tests: who measures must not matter",
	},
	"bench/team": {
		"bench/backend bench/lineup bench/redis bench/report bench/wire",
		"what it measures are processes; with the program's code in it, they would share a processor's caches and a" +
			" heap",
	},
	"bench/through": {
		"bench/backend bench/policy bench/price bench/replay bench/replay/figures bench/wire",
		"it plays a proxy from outside, on the wire; with the proxy's code in it, it would measure something else;" +
			" replay is for its tests",
	},
	"bench/wire": {
		"",
		"it is what is left of HTTP when nothing may cost anything; who measures with it must not matter",
	},
	"command": {
		"bench/backend bench/burst bench/cancel bench/counting bench/demo bench/lineup bench/load bench/page" +
			" bench/policy bench/price bench/replay bench/replay/figures bench/soak bench/subject bench/team" +
			" bench/through command/account command/advice command/explanation command/handing command/line" +
			" command/logging command/manual command/notes command/shelves command/stage command/statusline command/trial config" +
			" console console/access console/recall console/story console/story/api console/terminal daemon instance" +
			" console/inert instance/agent instance/service offload pattern proxy/clients unit",
		"a command reads flags and prints; how parts are put together, and how a running epitome is found, is for" +
			" others to know",
	},
	"command/account": {
		"console/story console/terminal instance",
		"it asks an epitome; which one, and how what it says is printed, is for commands to say",
	},
	"command/advice": {
		"command/line config unit",
		"it reads what the parser says; knowing a command, it would have to be told of each new one",
	},
	"command/line": {
		"",
		"it reads whatever structs declare; knowing a command, or what it is run by, it would have to be told of each" +
			" new one",
	},
	"command/handing": {
		"config offload/contexts",
		"it keeps files in a folder; what they are given to, and by whom, must not matter",
	},
	"command/shelves": {
		"config console daemon instance offload",
		"it finds what epitomes keep; what is done with it is for commands to say",
	},
	"command/statusline": {
		"command/logging",
		"it reads what an agent says; what is done with it is for commands to say",
	},
	"command/stage": {
		"bench/demo config daemon event/money proxy/route unit",
		"it starts the daemon as the demo wants it; what is played and told there must not matter",
	},
	"command/explanation": {
		"console/inert rewrite rewrite/conversation rewrite/limits rewrite/plan window",
		"it says what was found out; how that is found out, and by which flags it is asked for, must not matter",
	},
	"command/trial": {
		"command/explanation config console daemon daemon/asides instance prose rewrite rewrite/aside" +
			" rewrite/conversation rewrite/span tokenize unit window",
		"it finds out what would be done to a request; by which flags that is asked for, and how it is printed, must" +
			" not matter",
	},
	"command/logging": {
		"console/inert",
		"a log takes lines, whatever they say; what wants them written, and by which keys, must not matter",
	},
	"command/manual": {
		"command/line",
		"it describes whatever the parser reads; knowing a command, it would describe that one by hand",
	},
	"command/commandtest": {
		"instance scripted scripted/scriptedtest",
		"scripts see the program from outside, as a user does; only where its card lies they must know",
	},
	"config": {
		"console event event/money offload/bucket offload/contexts prose proxy proxy/certificate proxy/clients" +
			" pattern proxy/route rewrite/limits store/seal store/shared summarize summarize/memory unit window",
		"a configuration is read and checked; what is done by it must not matter, so it has only the tables that" +
			" others declare; of store/shared it has what a server's address may say",
	},
	"config/configtest": {
		"",
		"it only finds a file",
	},
	"console": {
		"console/access console/reply",
		"what it shows of the program main plugs in, so it can never slow an exchange",
	},
	"console/chart": {
		"",
		"reports and pages share it; what it knew of either would not suit the other",
	},
	"console/access": {
		"",
		"whose a request is must not depend on what it asks for; pages and answers ask it, from below and beside the" +
			" console",
	},
	"console/figure": {
		"",
		"a number is written alike wherever it is shown",
	},
	"console/logs": {
		"event",
		"log lines are a fold over events; what else they told would be a second truth",
	},
	"console/markup": {
		"console/chart console/figure",
		"what makes a page safe and its numbers true must hold whatever the page shows",
	},
	"console/metrics": {
		"event",
		"metrics are a fold over events; what else they counted would be a second truth",
	},
	"console/pages": {
		"console/figure console/markup console/pages/amounts console/pages/drawing console/pages/frame" +
			" console/pages/lines console/pages/troubles console/pages/words console/access console/story event summarize/memory",
		"pages show what is answered to everybody; what they worked out themselves would be a second truth",
	},
	"console/pages/amounts": {
		"console/markup console/pages/frame console/pages/words console/story event",
		"an amount is shown alike on every page; which page that is must not matter",
	},
	"console/pages/drawing": {
		"console/chart console/figure console/markup console/pages/frame console/pages/words console/story event",
		"a chart is a fold over events; who looks at it must not change it",
	},
	"console/pages/frame": {
		"console/access console/chart console/markup event",
		"what stands around a page must not depend on what it shows",
	},
	"console/pages/lines": {
		"console/chart",
		"lines are read and compared alike, whoever said what stands in them",
	},
	"console/pages/troubles": {
		"console/markup console/pages/frame console/pages/words event",
		"what went wrong is shown alike wherever it is listed; who lists it must not matter",
	},
	"console/pages/words": {
		"console/figure console/markup console/story event",
		"what is said of an event is told by the event; on which page it stands must not matter",
	},
	"console/story/journal": {
		"",
		"lines are kept whatever they say",
	},
	"console/recall": {
		"pattern rewrite/excerpt rewrite/outline",
		"it reads texts by their names; where they lie, and what conversations are, must not matter to it",
	},
	"console/story": {
		"console/story/journal event event/codec",
		"what is kept are folds over events; what it learned elsewhere would be a second truth",
	},
	"console/terminal": {
		"console/chart console/figure console/story event",
		"a terminal shows what is answered to everybody; how it is asked must not matter, and what it worked out" +
			" itself would be a second truth; chart is for its filter of texts",
	},
	"console/traces": {
		"event",
		"spans are a fold over events; what else they told would be a second truth",
	},
	"console/reply": {
		"console/inert",
		"how an answer looks is the same whatever it says",
	},
	"console/story/webhook": {
		"console/story event",
		"it hands on what happens; who else hears of it must not matter",
	},
	"console/story/stream": {
		"console/inert console/reply console/story event",
		"it hands on what happens; who watches, and what the console thinks of them, must not matter",
	},
	"console/story/api": {
		"console/access console/reply console/story event",
		"it hands on what is asked and answered; what it worked out itself would be a second truth",
	},
	"daemon": {
		"config console console/learned console/logs console/metrics console/pages console/recall console/story" +
			" console/story/api console/story/stream console/story/webhook console/traces daemon/asides daemon/heap" +
			" daemon/lending daemon/lessons daemon/memories daemon/probing daemon/telling daemon/turns event" +
			" event/money instance offload offload/bucket offload/contexts prose proxy proxy/clients proxy/route" +
			" rewrite rewrite/aside rewrite/chat rewrite/conversation rewrite/decision rewrite/messages rewrite/plan" +
			" rewrite/responses rewrite/sent store store/disk store/memory store/seal store/shared summarize" +
			" summarize/memory tokenize unit window window/overflow",
		"it wires everything that runs; flags, and what commands print, must be replaceable without touching it",
	},
	"daemon/turns": {
		"rewrite/decision store store/shared",
		"how often a server is asked must be replaceable without touching what is decided, or how it is kept",
	},
	"daemon/probing": {
		"config event proxy proxy/route window",
		"it asks servers through the proxy; which conversations want to know, and how these are shaped, must not" +
			" matter",
	},
	"daemon/heap": {"", "when garbage is collected hangs on the heap alone, and on nothing that the program is for"},
	"event": {
		"",
		"event is plain data that every package may read; an import would make each of them depend on it",
	},
	"event/codec":     {"event", "it writes what an event has, whatever it means"},
	"event/eventtest": {"event", "it is what tests of folds are fed with"},
	"event/money": {
		"event pattern unit",
		"what something costs is worked out from an event and a price; knowing who asks, it could not be one ruler" +
			" for all",
	},
	"event/money/table": {
		"",
		"it is the program that writes the table, and none of the program that reads it",
	},
	"house": {
		"",
		"the law reads the sources as text; importing what it judges, it could not judge what does not build",
	},
	"house/missing": {
		"",
		"it only ends a test, and every package may have tests that lack something",
	},
	"instance/agent": {
		"instance",
		"it knows other people's programs; how a running epitome is found, and what commands print, is for others to" +
			" know",
	},
	"instance/service": {
		"",
		"a service manager starts a program with flags; what the program does must not matter",
	},
	"instance": {
		"config console console/metrics proxy/route rewrite/limits summarize",
		"a running epitome is found and asked from outside; with the daemon in it, it could not ask an older one;" +
			" proxy, limits and summarize are for its tests",
	},
	"offload/bucket": {
		"",
		"a bucket keeps objects; what an artifact is, and who may read one, is the shelf's",
	},
	"offload": {
		"offload/bucket store store/seal",
		"a shelf keeps contents by name; with the conversation or the wire in it, it could not be trusted to hand" +
			" back what it was given",
	},
	"pattern": {
		"",
		"a regular expression knows nothing of the texts that it is tried on",
	},
	"pattern/lazy": {
		"",
		"a value is made when it is asked for; what it is must not matter",
	},
	"prose": {
		"event",
		"it is what others ask and answer, as data; it has the cost of an answer from event, so that what is told" +
			" needs no copy",
	},
	"proxy": {
		"event prose proxy/aside proxy/buffers proxy/carried proxy/certificate proxy/clients proxy/ear proxy/loop" +
			" proxy/peek proxy/refuse proxy/room proxy/route proxy/turns proxy/wire rewrite rewrite/aside" +
			" rewrite/conversation rewrite/limits rewrite/plan rewrite/spent unit window window/overflow",
		"proxy is one exchange on the wire; pages, storage and flags must be replaceable without touching the wire",
	},
	"proxy/buffers": {"", "what is lent is memory; knowing what a body says, or who asks, it could not be lent to the next"},
	"proxy/certificate": {
		"unit",
		"a certificate is trusted whatever is said below it; knowing an exchange, it could not stand on both of its" +
			" sides",
	},
	"proxy/certificate/certificatetest": {"", "it makes certificates for whoever tests with TLS"},
	"proxy/clients": {
		"proxy/refuse proxy/wire unit",
		"whose a request is shows in its head, and what they may use in the configuration; what the request says" +
			" must not matter",
	},
	"proxy/turns": {"proxy/wire", "who waits for whom does not depend on what is done then"},
	"proxy/loop":  {"proxy/wire", "whether a request was here before shows in its lines; what is then done about it is the exchange's"},
	"proxy/peek": {
		"proxy/wire sse window/overflow",
		"whether an answer refuses its request is seen in its beginning; what is then done about it is the" +
			" exchange's",
	},
	"proxy/route": {
		"proxy/certificate proxy/wire unit",
		"where a request goes is told by its path and its model; what becomes of it there must not matter",
	},
	"proxy/room": {"", "who gets memory depends on whose a request is and how large, and on nothing that is said in it"},
	"proxy/refuse": {
		"event proxy/wire",
		"a refusal says what to do; whether a request is refused is for others to say",
	},
	"proxy/wire": {
		"event",
		"heads, chunks and connections are the same whatever is said over them; knowing an exchange or a" +
			" conversation, it could not be trusted to pass bytes on; why nothing came it tells as a fault of event",
	},
	"proxy/wire/wiretest": {
		"",
		"it has bodies in every coding for tests; no exchange may be reached through it",
	},
	"sse": {
		"",
		"it reads the lines of a stream; knowing what events say in it, it would suit one dialect",
	},
	"store": {"", "facts know nothing of who asks for them"},
	"store/disk": {
		"store store/lock store/records store/seal",
		"what a store keeps its bytes in must be replaceable without touching what facts are",
	},
	"store/memory": {
		"store store/records",
		"what a store keeps its bytes in must be replaceable without touching what facts are",
	},
	"store/records": {"store", "it is the contract's reading for every store; knowing one of them, it would suit that one"},
	"store/seal":    {"", "what is sealed must be judged by itself; what it knew of who keeps what, nobody could check here"},
	"store/shared": {
		"store",
		"what a store keeps its bytes in must be replaceable without touching what facts are",
	},
	"store/shared/sharedtest": {
		"house/missing",
		"it stands for a server and the way to it; knowing the store, it would suit that one",
	},
	"store/storetest": {
		"store",
		"it holds every store to the contract; knowing one of them, it would suit that one",
	},
	"summarize": {
		"event pattern prose store summarize/memory unit",
		"a summary is asked for by question and answer; what a conversation is and how bytes get upstream must be" +
			" replaceable without touching its life",
	},
	"tokenize": {
		"pattern/lazy",
		"counting is pure: it knows neither wire nor store, so that everything may use it",
	},
	"unit": {
		"",
		"unit reads durations and sizes for every config; an import would make each of them depend on it",
	},
	"window": {
		"pattern pattern/lazy unit window/overflow",
		"what a model holds depends on its name, the configuration and what providers have said; who asks and what" +
			" is rewritten for it must not matter",
	},
	"window/overflow": {
		"pattern pattern/lazy sse unit",
		"what an answer says of its request's size must not depend on what a model is believed to hold",
	},
	"window/table": {
		"",
		"it is the program that writes the table, and none of the program that reads it",
	},
}, outside, asides, rewriting)

// dialect is what each dialect may know.
const dialect = "event prose rewrite/conversation rewrite/reply rewrite/span rewrite/spent sse tokenize"

// forTests may be imported by any _test.go file.
const forTests = "bench/benchtest bench/cputime bench/lineup/lineuptest config/configtest event event/eventtest house/missing " +
	"proxy/certificate/certificatetest proxy/wire/wiretest rewrite/chat rewrite/conversation rewrite/messages rewrite/plan/plantest rewrite/responses rewrite/rewritetest " +
	"scripted scripted/messages scripted/messages/rules scripted/messages/thought scripted/responses " +
	"scripted/responses/rules scripted/scriptedtest scripted/value store/disk " +
	"store/memory store/shared/sharedtest store/storetest unit"
