package house_test

// rewriting has the rooms in which a conversation gets the form in which it is sent.
var rewriting = map[string]room{
	"rewrite": {
		"event prose rewrite/addition rewrite/chat rewrite/compact rewrite/conversation rewrite/decision" +
			" rewrite/folder rewrite/history rewrite/history/action rewrite/ladder rewrite/limits rewrite/mark" +
			" rewrite/offer rewrite/plan rewrite/recap rewrite/seen rewrite/sent rewrite/shorten rewrite/span" +
			" tokenize unit",
		"a conversation is bytes and counts; with a wire or a store in it, it could not be tested as a function;" +
			" what it tells is an event already, so no translation can lose a field",
	},
	"rewrite/addition": {
		"rewrite/decision rewrite/mark rewrite/span",
		"what is added is a text with a record; what it is added to, and where it stands there, must not matter",
	},
	"rewrite/abridge": {
		"event rewrite/decision rewrite/excerpt rewrite/history rewrite/history/action rewrite/limits" +
			" rewrite/outline rewrite/plan rewrite/shorten rewrite/span",
		"how one result gets shorter is the same for every rung; which results do is a rung's to know",
	},
	"rewrite/chat": {
		dialect + " unit",
		"a dialect knows its own JSON and nothing of what is done with it; what it knew of a rung, each" +
			" dialect would have to know",
	},
	"rewrite/messages":  {dialect + " pattern pattern/lazy", "as for rewrite/chat; two dialects that knew one another would be one"},
	"rewrite/responses": {dialect + " pattern pattern/lazy", "as for rewrite/chat and rewrite/messages"},
	"rewrite/compact": {
		"event prose rewrite/abridge rewrite/conversation rewrite/decision rewrite/history rewrite/limits" +
			" rewrite/plan rewrite/recap rewrite/recap/past rewrite/shorten rewrite/span",
		"rung 3 writes on the plan like the others; when it is its turn is the ladder's to know",
	},
	"rewrite/conversation": {
		"rewrite/span tokenize",
		"it is what all dialects have in common; what it knew of one of them would be true of that one alone",
	},
	"rewrite/decision": {
		"event rewrite/conversation rewrite/history rewrite/span unit",
		"a form is replayed byte for byte by whoever finds it; why it was chosen is written beside it, and must not" +
			" matter any more",
	},
	"rewrite/distil": {
		"prose rewrite/conversation rewrite/decision rewrite/history rewrite/mark rewrite/plan",
		"it asks and looks for the ladder; which results are cleared, and how an answer is made, must not matter to" +
			" it",
	},
	"rewrite/excerpt": {
		"rewrite/excerpt/form rewrite/excerpt/glance rewrite/excerpt/looks rewrite/excerpt/stamp rewrite/linenumber" +
			" rewrite/mark rewrite/record rewrite/wording",
		"which lines of a text tell is told by the text alone; what it knew of a plan, it could favour",
	},
	"rewrite/excerpt/form": {
		"pattern pattern/lazy rewrite/excerpt/glance rewrite/excerpt/stamp",
		"a line has a tool's form by itself; which lines are shown must not matter to the table",
	},
	"rewrite/excerpt/glance": {
		"rewrite/excerpt/looks",
		"what the words of a line say is told by the line; which tool wrote it must not matter",
	},
	"rewrite/excerpt/looks": {
		"rewrite/excerpt/stamp",
		"a line looks as it does by itself; what it tells beside others must not matter",
	},
	"rewrite/excerpt/stamp": {
		"",
		"what stands before a line is told by the line, whatever it tells",
	},
	"rewrite/history": {
		"rewrite/conversation rewrite/history/action rewrite/history/ending rewrite/shell rewrite/shorten" +
			" rewrite/span",
		"what happened is told by the conversation alone; what is sent of it must not change it",
	},
	"rewrite/history/action": {
		"rewrite/chat rewrite/conversation rewrite/mark rewrite/rewritetest rewrite/shell rewrite/shorten" +
			" rewrite/span",
		"what a call does is told by its tool's name and its arguments; what came of it must not matter",
	},
	"rewrite/history/ending": {
		"pattern pattern/lazy rewrite/chat rewrite/conversation rewrite/excerpt rewrite/history/action rewrite/history/answer" +
			" rewrite/history/verb rewrite/mark rewrite/shell rewrite/shorten rewrite/span",
		"how a call ended is told by the call and its result; what came before and after must not matter",
	},
	"rewrite/history/answer": {
		"pattern rewrite/span",
		"what an answer says stands in its fields and lines; which call it answers must not matter",
	},
	"rewrite/history/verb": {
		"",
		"what a name says stands in its words; what the tool was given, and what it answered, must not matter",
	},
	"rewrite/ladder": {
		"event rewrite/abridge rewrite/compact rewrite/conversation rewrite/decision rewrite/distil rewrite/excerpt" +
			" rewrite/history rewrite/history/action rewrite/limits rewrite/plan rewrite/runs rewrite/shorten" +
			" rewrite/span",
		"rungs write on the plan; how a decision is found, recorded and built must be replaceable without touching" +
			" them",
	},
	"rewrite/limits": {
		"unit",
		"limits are numbers that files, headers and explain read alike; what is done by them must not matter",
	},
	"rewrite/offer": {
		"pattern rewrite/conversation rewrite/history/verb",
		"what a client offers is read off its request; what follows from it must not matter",
	},
	"rewrite/linenumber": {
		"",
		"lines are numbered by whoever shows a file, whatever stands in them",
	},
	"rewrite/mark": {
		"",
		"what passes for a mark is one rule for all who show lines of others; who they are must not matter",
	},
	"rewrite/outline": {
		"rewrite/linenumber rewrite/mark rewrite/outline/alike rewrite/outline/census rewrite/outline/definition" +
			" rewrite/outline/within rewrite/span",
		"what a text is made of stands in the text; whose it is must not matter",
	},
	"rewrite/outline/alike": {
		"rewrite/record rewrite/wording",
		"records are alike or not, whatever they are shown in",
	},
	"rewrite/outline/census": {
		"rewrite/mark rewrite/span rewrite/wording",
		"items are counted, whatever they are shown in",
	},
	"rewrite/outline/within": {
		"rewrite/span",
		"where a value stands is told by the JSON around it; why it is asked for must not matter",
	},
	"rewrite/outline/definition": {
		"",
		"a line defines something by what it says, however much of a file is shown",
	},
	"rewrite/plan": {
		"event prose rewrite/conversation rewrite/decision rewrite/excerpt rewrite/history rewrite/history/action" +
			" rewrite/history/answer rewrite/history/ending rewrite/limits rewrite/mark rewrite/outline" +
			" rewrite/shorten rewrite/span tokenize",
		"it is the sheet that all rungs write on; knowing one of them, it would be that one's",
	},
	"rewrite/plan/plantest": {
		"rewrite/chat rewrite/conversation rewrite/decision rewrite/history rewrite/limits rewrite/plan" +
			" rewrite/rewritetest rewrite/span unit",
		"it lays out plans for the tests of whoever writes on them; knowing a rung, it would be that one's",
	},
	"rewrite/recap": {
		"pattern prose rewrite/conversation rewrite/excerpt rewrite/history rewrite/history/action" +
			" rewrite/history/ending rewrite/linenumber rewrite/plan rewrite/recap/agenda rewrite/recap/alike rewrite/recap/deed" +
			" rewrite/recap/fate rewrite/recap/filing rewrite/recap/git rewrite/recap/past rewrite/recap/spoken" +
			" rewrite/recap/step rewrite/sentence rewrite/shell rewrite/shorten",
		"it tells what happened in a span; where that ends, and what is sent of it, is rung 3's to know",
	},
	"rewrite/recap/agenda": {
		"",
		"a list of tasks stands in calls; where they stand, and what is told of it, must not matter",
	},
	"rewrite/recap/alike": {
		"",
		"lines are alike by their words; which calls they are of must not matter",
	},
	"rewrite/recap/deed": {
		"rewrite/history/answer rewrite/history/verb rewrite/mark rewrite/span",
		"a call has its values and its tool's name; how it ended, and how much of it is told, must not matter",
	},
	"rewrite/recap/fate": {
		"pattern rewrite/excerpt rewrite/history rewrite/history/action rewrite/history/ending rewrite/recap/errand" +
			" rewrite/recap/past rewrite/recap/rerun",
		"what became of a call stands in the calls behind it; what is told of it, and for how much there is room," +
			" must not matter",
	},
	"rewrite/recap/filing": {
		"rewrite/history/action rewrite/shell",
		"a line stands in a file by what calls did to it; how much of it is told must not matter",
	},
	"rewrite/recap/checkout": {
		"pattern",
		"what lies in a folder is told by the commands of git that ran there; what others found must not matter",
	},
	"rewrite/recap/errand": {
		"pattern rewrite/conversation rewrite/excerpt rewrite/history/ending rewrite/recap/checkout rewrite/recap/deed" +
			" rewrite/recap/rerun rewrite/recap/step rewrite/recap/where rewrite/span",
		"what a call does is told by its words and where they are run; what is open of it, and what is told, must" +
			" not matter",
	},
	"rewrite/recap/git": {
		"pattern rewrite/recap/step rewrite/shell",
		"what git does to earlier changes stands in the words of its command; whose changes they are must not matter",
	},
	"rewrite/recap/past": {
		"pattern rewrite/conversation rewrite/history rewrite/history/action rewrite/history/ending rewrite/plan" +
			" rewrite/recap/step rewrite/shorten",
		"it reads what happened; what of that is told, and where, must not matter",
	},
	"rewrite/recap/rerun": {
		"",
		"whether one run covers another is read from their words; which calls they are of must not matter",
	},
	"rewrite/recap/intext": {
		"pattern rewrite/excerpt rewrite/shell rewrite/shorten",
		"a call in a text is told by the texts alone; where in a conversation they stand must not matter",
	},
	"rewrite/recap/step": {
		"pattern rewrite/shorten",
		"a command line has its steps by its text alone; what they do must not matter",
	},
	"rewrite/recap/where": {
		"",
		"where a command runs is told by those before it; what they do there must not matter",
	},
	"rewrite/recap/spoken": {
		"pattern rewrite/conversation rewrite/history rewrite/history/action rewrite/plan rewrite/recap/intext" +
			" rewrite/recap/past rewrite/sentence rewrite/span",
		"who said what stands in messages and results; what else a summary tells must not matter",
	},
	"rewrite/reply": {
		"pattern prose rewrite/span unit",
		"it is what answers have in common; what it knew of one dialect would be true of that one alone",
	},
	"rewrite/rewritetest": {
		"event house/missing rewrite/conversation rewrite/spent tokenize",
		"it has what the tests of several rooms share; no room may be reached through it",
	},
	"rewrite/seen": {
		"rewrite/conversation rewrite/span",
		"a conversation is found by its bytes; what was decided for it, and what is known of it beside, must not" +
			" matter",
	},
	"rewrite/sentence": {
		"pattern rewrite/shorten rewrite/span",
		"what a sentence tells is told by its words alone; what it knew of a plan, it could favour",
	},
	"rewrite/shell": {
		"",
		"a command line tells which files it touches, whoever ran it",
	},
	"rewrite/shorten": {
		"rewrite/shell rewrite/span",
		"a text becomes a shorter one; whose text it is must not matter",
	},
	"rewrite/span": {
		"",
		"spans are places in bytes of JSON; what the bytes mean must not matter",
	},
	"rewrite/spent": {
		"event rewrite/reply",
		"what an answer says that it cost is numbers; the names of these are the dialects' own",
	},
	"rewrite/record": {
		"",
		"records are made of like lines, whatever these say",
	},
	"rewrite/wording": {
		"",
		"texts say the same of different things whatever they stand in: fields of records, or lines",
	},
}
