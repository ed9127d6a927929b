#!/usr/bin/env python3
"""Makes conversations of an agent with questions about them, for epitome bench recall.

    bench/questions.py [SEED] > FILE   twelve sessions with forty questions each; equal seeds make equal files
    bench/questions.py --check FILE    whether each answer follows from its conversation alone, and is the only one
    bench/questions.py --kinds REPORT  the answers that can be read, in percent, by kind; REPORT is what epitome bench
                                       recall --json --last prints. In brackets: with the artifacts that are named

Every question names a key, such as limit-3-2, and asks for what was said of it last. There are eight kinds, five
questions of each in a session:

    rule    an order in the middle of a text that the user pasted
    limit   a value that changes twice, by the user, the agent or the result of a tool
    probe   a row in the result of a tool
    task    a state that changes twice
    check   an error in the result of a command that failed; some fail again, with another error
    slot    a value among others of its kind, behind a draft that is void
    note    a value in the user's small talk, which is much the same each time
    choice  a decision in the middle of what the agent explains; some are changed

Three sessions each consist mostly of results, of talk, of pasted texts, and of all of these. A session has five
compactions or more in a window of 32,000 tokens. All words are made up here.
"""
import json, random, re, sys

SESSIONS, EACH = 12, 5
SIZE = 440_000  # characters of a session

ADJECTIVES = """amber brisk calm dusty early faint grey hollow inner jagged keen late mellow narrow outer plain quick
    rusty silent tall upper vast warm young blunt coarse damp even firm gaunt humble idle lean mild neat odd pale rough
    sharp thin usual vague weak broad clean deep""".split()
NOUNS = """anchor barrel cedar depot engine ferry garden harbour island jetty kettle ladder meadow needle orchard pillar
    quarry river saddle timber valley window yard basin copper dragon ember falcon gravel hammer inlet lantern marble
    nickel otter pepper quay ribbon summit tunnel velvet wagon beacon canyon desert fabric glacier hollow kernel
    lattice mirror nettle oyster parcel quiver rafter signal thistle vessel walnut branch cellar drawer fender
    gasket hinge jacket lever magnet nozzle piston ratchet spindle trolley valve winch""".split()
VERBS = """carried crossed dropped emptied followed gathered handed joined kept lifted measured moved named opened
    packed painted passed pulled pushed raised reached sorted stacked turned washed weighed wrapped counted covered
    fastened loaded mended planted rinsed scraped traced""".split()
PLACES = "beside behind below above near under over past along across".split()
STATES = "parked released blocked withdrawn approved postponed rejected merged archived assigned".split()

# Of each kind the sentences that say a value, each with the question. {k} is the key and {v} the value.
RULES = [
    ("By {k} nothing may leave the yard before the seal {v} is on it.", "Which seal does {k} ask for?"),
    ("{k} was agreed with the owners: reports go to the desk {v} and to nobody else.",
     "To which desk do reports go by {k}?"),
    ("From here on {k} holds, and it sends every refund through the account {v}.",
     "Which account does {k} send refunds through?"),
    ("Please keep to {k}: write the log only to {v} while the audit runs.", "Where does {k} have the log written?"),
    ("{k} must not be broken by any of us, so use the mirror {v} for downloads.", "Which mirror does {k} prescribe?"),
]
LIMITS = {
    "user": ["Let us put {k} at {v} and see how it behaves.", "I talked to the others, and {k} becomes {v}.",
             "One more thing, {k} has to be {v} from today."],
    "tool": ["{k} = {v}", "{k}: {v}", "set {k} to {v}"],
    "agent": ["After the measurement I have set {k} to {v}, which leaves some room.",
              "I moved {k} to {v} as the load is lower."],
}
LIMIT_ASKS = ["At how much does {k} stand in the end?", "What is the value of {k} now?", "How large is {k} by now?"]
TASKS = ["{k} is {v} since this morning, and nobody has touched it after that.",
         "I have marked {k} as {v} in the plan.",
         "The state of {k} is {v}, as the board shows.", "Then {k} was {v} by the team that owns it."]
TASK_ASKS = ["In which state is {k} at the end?", "What became of {k}?", "How does {k} stand now?"]
CHECKS = ["{k} failed with {v} in step {n}", "FAIL {k}: {v} (step {n})", "{k}: error {v} at line {n}"]
CHECK_ASKS = ["With which error did {k} fail last?", "What did the last failure of {k} report?"]
DRAFTS = ["An old draft had {k} at {v}, which is void.", "Forget that {k} once went to {v}."]
SLOTS = ["{k} goes to {v}", "{k} is given to {v}", "for {k} it is {v}"]
SLOT_ASKS = ["What is {k} given to in the end?", "Where does {k} go?"]
NOTES = ["Go on with the next one, and {k} is for {v}, before I forget.", "Fine, go on. By the way {k} says {v}.",
         "Yes, go on, and keep {k} with {v} in mind."]
NOTE_ASKS = ["What was {k} about?", "Which value goes with {k}?"]
CHOICES = ["So for {k} I settled on {v}, as the other way round takes two passes.",
           "Between the two, {k} comes down to {v}, since that needs no lock.",
           "This means that {k} is {v} from my side."]
CHOICE_ASKS = ["What was decided for {k}?", "What did {k} come down to?"]


class Session:
    """One conversation while it is made."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")
        self.number = number
        self.messages = []
        self.size = 0
        self.calls = 0
        self.used = set()   # values
        self.questions = []

    def pick(self, *lists):
        return self.random.choice(self.random.choice(lists))

    def value(self):
        """Returns a value that nothing else in the session has."""
        r = self.random
        while True:
            v = r.choice([
                lambda: f"{r.choice(ADJECTIVES)}-{r.choice(NOUNS)}",
                lambda: str(r.randint(1_200, 98_000)),
                lambda: "".join(r.choices("BCDFGHKLMNPQRTVWXZ", k=3)) + str(r.randint(100, 999)),
                lambda: f"/srv/{r.choice(NOUNS)}/{r.choice(NOUNS)}.toml",
            ])()
            if v not in self.used:
                self.used.add(v)
                return v

    # Text that says nothing that is asked for. Its numbers have three digits at most.

    def sentence(self):
        r = self.random
        subject = f"the {r.choice(ADJECTIVES)} {r.choice(NOUNS)}"
        rest = (f"{r.choice(VERBS)} the {r.choice(NOUNS)} {r.choice(PLACES)} "
                f"the {r.choice(ADJECTIVES)} {r.choice(NOUNS)}")
        text = r.choice([
            f"{subject} {rest}",
            f"{subject} {rest} {r.randint(2, 99)} times",
            f"after {r.randint(2, 59)} minutes {subject} {rest}, and {r.choice(VERBS)} it again",
            f"{subject}, which {r.choice(VERBS)} the {r.choice(NOUNS)}, {rest}",
            f"as {subject} {rest}, nobody {r.choice(VERBS)} the {r.choice(NOUNS)}",
        ])
        return text[0].upper() + text[1:] + "."

    def prose(self, sentences, said=()):
        """Returns paragraphs that have the sentences of said somewhere in the middle."""
        lines = [self.sentence() for _ in range(sentences)]
        for text in said:
            lines.insert(self.random.randint(len(lines) // 4, 3 * len(lines) // 4), text)
        return "\n\n".join(" ".join(lines[i:i + 6]) for i in range(0, len(lines), 6))

    def output(self, lines, said=()):
        """Returns the output of a command, with the lines of said somewhere in it."""
        r = self.random
        row = r.choice([
            lambda i: f"{r.choice(NOUNS)}/{r.choice(NOUNS)}.go:{r.randint(1, 999)}: "
                      f"{r.choice(VERBS)} {r.choice(NOUNS)} {r.choice(ADJECTIVES)}",
            lambda i: f"{i:3} {r.choice(VERBS):10} {r.choice(ADJECTIVES):8} {r.choice(NOUNS):8} "
                      f"{r.randint(0, 999):4} ms",
            lambda i: f"probe-{self.number}-{1000 + r.randint(0, 8999)} "
                      f"{r.choice(ADJECTIVES)} {r.choice(NOUNS)} {r.randint(0, 999)}",
            lambda i: f"ok {r.choice(NOUNS)}/{r.choice(NOUNS)} {r.randint(0, 99)}.{r.randint(0, 9)}s",
        ])
        rows = [row(i) for i in range(lines)]
        for text in said:
            rows.insert(r.randint(0, len(rows)), text)
        return "\n".join(rows)

    # Messages

    def say(self, role, content, **more):
        self.messages.append(dict(role=role, content=content, **more))
        self.size += len(content or "")

    def call(self, said=(), isFailure=False, lines=None):
        """Has the agent call a tool whose result has the lines of said."""
        r = self.random
        self.calls += 1
        call = f"call_{self.number}_{self.calls}"
        tool, argument = r.choice([("bash", {"command": f"make {r.choice(NOUNS)} | tail -{r.randint(20, 90)}"}),
                                   ("read", {"path": f"{r.choice(NOUNS)}/{r.choice(NOUNS)}.go"}),
                                   ("search", {"text": f"{r.choice(VERBS)} {r.choice(NOUNS)}"})])
        if isFailure:
            tool, argument = "bash", {"command": f"make {r.choice(NOUNS)}-test"}
        arguments = json.dumps(argument)
        self.messages.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": call, "type": "function", "function": {"name": tool, "arguments": arguments}}]})
        text = self.output(lines or r.randint(20, 70), said)
        if isFailure:
            text += f"\nmake: *** [{r.choice(NOUNS)}-test] Error {r.randint(1, 9)}\nexit status 2"
        self.say("tool", text, tool_call_id=call)

    def turn(self, style, user=(), tool=(), agent=(), pasted=(), small=(), isFailure=False):
        """Adds what the user says, what the agent does, and its answer, with these sentences in them."""
        r = self.random
        if pasted or style == "paste" and not (user or small):
            opening = r.choice(["Here is what they sent me.", "This came this morning, please read it.",
                                "The minutes:"])
            text = self.prose(r.randint(25, 70), pasted)
            self.say("user", f"{opening}\n\n{text}\n\nWhat follows for our {r.choice(NOUNS)}?")
        elif small:
            self.say("user", " ".join(small))
        elif user or r.random() < .4:
            asks = f"Please look at the {r.choice(NOUNS)} of the {r.choice(ADJECTIVES)} {r.choice(NOUNS)}."
            self.say("user", self.prose(r.randint(1, 4), user) + " " + asks)
        else:
            self.say("user", r.choice(["Go on.", "Go on with the next one.", "Fine, go on.", "Yes, go on."]))
        works = {"tools": r.randint(1, 4), "talk": r.random() < .2, "paste": r.random() < .4}[style]
        if tool or isFailure:
            self.call(tool, isFailure)
        for _ in range(int(works)):
            self.call()
        length = r.randint(15, 45) if style == "talk" else r.randint(2, 8)
        self.say("assistant", self.prose(length, agent))

    # Facts: each returns what happens in order, as arguments of turn.

    def ask(self, question, key, answer):
        self.questions.append({"question": question.format(k=key), "expected": answer})

    def rule(self, key, i):
        v = self.value()
        said, question = RULES[i]
        self.ask(question, key, v)
        return [dict(pasted=[said.format(k=key, v=v)])]

    def limit(self, key, i):
        r = self.random
        values = sorted({r.randint(1_200, 98_000) for _ in range(3)} - {int(v) for v in self.used if v.isdigit()})
        while len(values) < 3:
            values.append(values[-1] + 7)
        r.shuffle(values)
        self.used.update(map(str, values))
        self.ask(r.choice(LIMIT_ASKS), key, str(values[-1]))
        speakers = r.sample(sorted(LIMITS), 3)
        return [{who: [r.choice(LIMITS[who]).format(k=key, v=v)]} for who, v in zip(speakers, values)]

    def probe(self, key, i):
        v = self.value()
        self.ask("What did the run report for {k}?", key, v)
        return [dict(tool=[f"{key} {self.random.choice(ADJECTIVES)} {self.random.choice(NOUNS)} {v}"])]

    def task(self, key, i):
        r = self.random
        states = r.sample(STATES, 3)
        self.ask(r.choice(TASK_ASKS), key, states[-1])
        return [{r.choice(["user", "agent"]): [r.choice(TASKS).format(k=key, v=v)]} for v in states]

    def check(self, key, i):
        r = self.random
        values = [self.value() for _ in range(1 + i % 2)]
        self.ask(r.choice(CHECK_ASKS), key, values[-1])
        return [dict(tool=[r.choice(CHECKS).format(k=key, v=v, n=r.randint(1, 99))], isFailure=True) for v in values]

    def slot(self, key, i):
        r = self.random
        v = self.value()
        self.ask(r.choice(SLOT_ASKS), key, v)
        others = [r.choice(SLOTS).format(k=f"slot-{self.number}-{10 * (i + 1) + n}", v=self.value()) for n in range(4)]
        others.insert(r.randint(0, 4), r.choice(SLOTS).format(k=key, v=v))
        final = f"This is settled: {'; '.join(others)}."
        return [{r.choice(["user", "agent"]): [r.choice(DRAFTS).format(k=key, v=self.value())]},
                {r.choice(["user", "agent"]): [final]}]

    def note(self, key, i):
        v = self.value()
        self.ask(self.random.choice(NOTE_ASKS), key, v)
        return [dict(small=[self.random.choice(NOTES).format(k=key, v=v)])]

    def choice(self, key, i):
        r = self.random
        values = [self.value() for _ in range(1 + i % 2)]
        self.ask(r.choice(CHOICE_ASKS), key, values[-1])
        return [dict(agent=[r.choice(CHOICES).format(k=key, v=v)]) for v in values]

    def play(self):
        """Returns the conversation and its questions."""
        r = self.random
        kinds = "rule limit probe task check slot note choice".split()
        events = []  # each with its place in the session, from 0 to 1
        for kind in kinds:
            for i in range(EACH):
                facts = getattr(self, kind)(f"{kind}-{self.number}-{i + 1}", i)
                places = sorted(r.uniform(.01, .97) for _ in facts)
                events += zip(places, facts)
        events.sort(key=lambda e: e[0])
        self.say("system", "You are an agent that works on a program together with its owner. Keep to what was agreed.")
        shares = {"tools": 1, "talk": 1, "paste": 1}
        shares.update([{"tools": 8}, {"talk": 8}, {"paste": 6}, {}][self.number % 4])
        while self.size < SIZE or events:
            style = r.choices(list(shares), shares.values())[0]
            fact = {}
            if events and self.size >= SIZE * events[0][0]:
                fact = events.pop(0)[1]
            self.turn(style, **fact)
        self.say("user", "Go on with what is left.")
        r.shuffle(self.questions)
        tools = [{"type": "function", "function": {"name": name, "description": f"{text} in the project's folder.",
                  "parameters": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}}}
                 for name, text, key in (("bash", "Run a command", "command"), ("read", "Read a file", "path"),
                                         ("search", "Search for a text", "text"))]
        request = {"model": "gpt-4.1", "tools": tools, "messages": self.messages}
        return {"request": request, "questions": self.questions}


# The second check knows nothing of how a conversation was made: it reads what each text says of a key.

KEY = re.compile(r"\b[a-z]+-\d+-\d+\b")
VALUE = re.compile(r"/srv/[a-z]+/[a-z]+\.toml|\b[a-z]+-[a-z]+\b|\b[A-Z]{3}\d{3}\b|\b\d{4,}\b|"
                   r"\b(?:%s)\b" % "|".join(STATES))
END = re.compile(r"\.(?:\s|$)|[;\n]")


def texts(request):
    for message in request["messages"]:
        yield message["content"] or ""
        for call in message.get("tool_calls", ()):
            yield call["function"]["arguments"]


def sayings(request):
    """Returns the values that the conversation says of each key, in order: those between it and the next key, or the
    end of its sentence."""
    said = {}
    for text in texts(request):
        keys = list(KEY.finditer(text))
        for key, following in zip(keys, keys[1:] + [None]):
            scope = text[key.end():following.start() if following else len(text)]
            end = END.search(scope)
            values = VALUE.findall(scope[:end.start()] if end else scope)
            said.setdefault(key[0], []).append(values)
    return said


def faults(n, session):
    said = sayings(session["request"])
    whole = "\n".join(texts(session["request"]))
    asked = {}
    for q in session["questions"]:
        text, answer = q["question"], q["expected"]
        def fault(what):
            return f"session {n}, {text!r}: {what}"
        keys = KEY.findall(text)
        if len(keys) != 1:
            yield fault("it names not one key")
            continue
        key = keys[0]
        values = said.get(key, [])
        if key in asked:
            yield fault("another question asks for this key")
        asked[key] = values
        if answer in text:
            yield fault("it holds its answer")
        if answer not in whole:
            yield fault("its answer stands nowhere")
        if any(len(v) != 1 for v in values):
            yield fault(f"a sentence says not one value of {key}: {values}")
        elif not values or values[-1][0] != answer:
            yield fault(f"{answer} is not what is said last: {values}")
        elif [answer] in values[:-1]:
            yield fault("its answer was said before, and changed since")
    kinds = {}
    for key, values in asked.items():
        kinds.setdefault(key.split("-")[0], []).append(len(values))
    for kind, least in ("limit", 3), ("task", 3), ("slot", 2):
        if min(kinds.get(kind, [0])) < least:
            yield f"session {n}: a {kind} is said fewer than {least} times"
    if sorted(map(len, kinds.values())) != [EACH] * 8:
        yield f"session {n}: the kinds have {kinds}"


def stands(key, answer, text):
    """Whether an answer stands within 200 characters behind its key."""
    return any(answer in text[at.end():at.end() + 200] for at in re.finditer(re.escape(key) + r"(?![\w-])", text))


def kinds(report):
    """Returns lines of a table: for each window and method, how many answers of each kind can be read."""
    shares = {}
    for last in report["last"]:
        fits = last["tokens"] <= last["window"]
        for q in last["questions"]:
            key, answer = KEY.findall(q["question"])[0], q["expected"]
            by_kind = shares.setdefault((last["window"], last["method"]), {}).setdefault(key.split("-")[0], [])
            is_shown = fits and stands(key, answer, last["text"])
            is_kept = fits and any(stands(key, answer, text) for text in last["artifacts"].values())
            by_kind.append((is_shown, is_shown or is_kept))
    for (window, method), by_kind in sorted(shares.items()):
        cells = [f"{kind} {100 * sum(a for a, _ in all) / len(all):.0f} [{100 * sum(b for _, b in all) / len(all):.0f}]"
                 for kind, all in sorted(by_kind.items())]
        yield f"{window:6} {method:10} {', '.join(cells)}"


def main(arguments):
    if arguments[:1] == ["--kinds"]:
        with open(arguments[1]) as file:
            print("\n".join(kinds(json.load(file))))
        return 0
    if arguments[:1] == ["--check"]:
        with open(arguments[1]) as file:
            sessions = json.load(file)
        found = [fault for n, session in enumerate(sessions) for fault in faults(n, session)]
        count = sum(len(s["questions"]) for s in sessions)
        print(f"questions: {count} in {len(sessions)} conversations, {len(found)} faults")
        return "\n".join(found) or 0
    seed = arguments[0] if arguments else "1"
    sessions = [Session(seed, n).play() for n in range(1, SESSIONS + 1)]
    json.dump(sessions, sys.stdout, separators=(",", ":"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
