package rewrite

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"epitome/prose"
)

// What was read and searched is counted where it has no place, a search is told as it was asked, and what is imported
// stands for no file.
func TestReadsAndSearchesAreToldOrCounted(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.does("grep", `{"pattern":"quantize_half","path":"shop/ledger"}`, "shop/a.py:3: quantize_half(total)")
	a.does("read_file", `{"path":"shop/rates.py"}`, "from decimal import ROUND_HALF_CEILING\nvalue = rate_of_day(ROUND_HALF_CEILING)\n")
	a.does("read_file", `{"path":"shop/known.py"}`, "nothing\n")
	a.does("read_file", `{"path":"shop/known_too.py"}`, "nothing\n")
	a.does("bash", `{"command":"check rate_of_day ROUND_HALF_CEILING"}`, "ok\nexit code: 0")
	a.answers("Done.", "I know shop/known.py and shop/known_too.py.")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	reads := partOf(text, "reads")
	for _, want := range []string{"grep, pattern `quantize_half`, path `shop/ledger`\n", "\nand 2 more, not listed here"} {
		if !strings.Contains(reads, want) {
			t.Errorf("%q is not told: %s", want, text)
		}
	}
	if strings.Contains(reads, "import") {
		t.Errorf("an import is told: %s", reads)
	}
}

// The user's newest message says where the words stand that followed it.
func TestTheNewestMessageSaysWhatFollowedIt(t *testing.T) {
	f := func(said, want string, findings int) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		a.items = append(a.items, userSays("What was its id again?"))
		a.says(said, "make shop", "ok")
		for k := range findings {
			a.says(fmt.Sprintf("The refund of part %d fails because its fee is rounded %d times.", k, k*k+2), "make shop", "ok")
		}
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		if note := ": message 2, the newest so far" + want + ": go on with it unless it is done\n"; !strings.Contains(text, note) {
			t.Errorf("after %q, %q is not told: %s", said, note, text)
		}
	}
	f("It was po_91143.", "; what you said next is message 3", 0)
	f("", "", 0)
	f("Okay.", "", 80) // the summary does not tell that
}

// Where a summary names several transcripts, it says which messages each holds.
func TestEachTranscriptIsToldWithItsMessages(t *testing.T) {
	for _, isMute := range []bool{false, true} {
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		a.cupboard.Mute = isMute
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		last := 0
		for range 8 {
			if strings.Contains(text[strings.LastIndex(text, "[end of"):], "messages ") {
				break
			}
			out, _ = a.grow(t, 400)
			text, _ = summaryIn(t, out)
		}
		ranges := regexp.MustCompile(`messages (\d+)-(\d+) in \S*([a-z2-7]{26})`).FindAllStringSubmatch(text, -1)
		if len(ranges) < 2 {
			t.Fatalf("no ranges are told: %s", text)
		}
		for _, m := range ranges {
			content, err := a.cupboard.Get(m[3])
			if want := fmt.Sprintf(": messages %s-%s of ", m[1], m[2]); err != nil || !strings.Contains(string(content[:200]), want) {
				t.Errorf("%v: the transcript does not begin with %q: %.200s", err, want, content)
			}
			if ends := numbers(m[1:3]...); ends[0] <= last || ends[1] < ends[0] {
				t.Errorf("messages %s-%s stand behind message %d", m[1], m[2], last)
			} else {
				last = ends[1]
			}
		}
	}
}

// Edits that change a number are told, though each name in them is known, and how often a file was written.
func TestShortEditsAreToldWhole(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.items = append(a.items, userSays("Tune retry_limit, retry_pause and retry_jitter in shop/retry.py."))
	for k, edit := range []string{"retry_limit = 5|retry_limit = 9", "retry_pause = 20|retry_pause = 35", "retry_jitter = 1|retry_jitter = 4"} {
		old, put, _ := strings.Cut(edit, "|")
		a.does("edit_file", fmt.Sprintf(`{"path":"shop/retry.py","old_string":%q,"new_string":%q}`, old, put), "ok")
		a.does("bash", fmt.Sprintf(`{"command":"check retry %d"}`, k), "ok\nexit code: 0")
	}
	a.does("write_file", `{"path":"shop/once.py","content":"import retry_limit\n"}`, "ok")
	a.answers("Done.", "I know shop/retry.py and shop/once.py.")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	files := partOf(text, "files")
	want := "shop/once.py\nshop/retry.py, written 3 times\n> retry_jitter = 4\n> retry_pause = 35\n> retry_limit = 9"
	if !strings.Contains(files, want) {
		t.Errorf("%q is not told: %s", want, files)
	}
}

// What a newer call took out of a file is not told as a line that was put in, and a call that deleted it wrote nothing.
func TestWhatWasTakenOutAgainIsNotToldOfAFile(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.items = append(a.items, userSays("Tune retry_limit in shop/retry.py, and make shop/new.py and shop/whole.py."))
	edit := func(old, put string) {
		a.does("edit_file", fmt.Sprintf(`{"path":"shop/retry.py","old_string":%q,"new_string":%q}`, old, put), "ok")
	}
	write := func(file, content string) {
		a.does("write_file", fmt.Sprintf(`{"path":%q,"content":%q}`, file, content), "ok")
	}
	edit("retry_limit = 5", "retry_limit = 9")
	edit("retry_limit = 9", "retry_limit = 12")
	edit("retry_limit = 12", "retry_limit = 9")
	edit("retry_limit = 9", "retry_limit = 7")
	write("shop/new.py", "first = 1\n")
	a.does("delete_file", `{"path":"shop/new.py"}`, "ok")
	write("shop/new.py", "second = 2\n")
	write("shop/whole.py", "third = 3\n")
	write("shop/whole.py", "fourth = 4\n")
	a.answers("Done.", "I know shop/retry.py, shop/new.py and shop/whole.py.")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	files := partOf(text, "files")
	want := "shop/whole.py, written 2 times\n> fourth = 4\nshop/new.py, written 2 times\n> second = 2\n" +
		"shop/retry.py, written 4 times\n> retry_limit = 7"
	if !strings.HasSuffix(strings.TrimSpace(files), want) {
		t.Errorf("%q is not told: %s", want, files)
	}
}

// Of a long line of JSON the part is told that later calls go on with, not the line, which has no place.
func TestAPartOfALongJSONLineIsTold(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	rows := make([]string, 40)
	for k := range rows {
		rows[k] = fmt.Sprintf(`{"id":"po_%d","state":"held_by_review"}`, 91_100+k)
	}
	a.does("list_payouts", `{"shop":"north"}`, `{"data":[`+strings.Join(rows, ",")+`]}`)
	a.does("release", `{"query":"north","payout":"po_91117"}`, "ok")
	a.answers("Done.", "Go on.")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	if want := "\n> " + rows[17] + "\n"; !strings.Contains(text, want) {
		t.Errorf("%q is not told: %s", want, text)
	}
}

// A line of a file that has no place does not pass for told: what was read of it before is.
func TestLinesWithoutAPlaceAreNotTakenForTold(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.does("read_file", `{"path":"shop/base.py"}`, "class Base:\n    forgotten_symbol = lookup_table(7)\n")
	a.does("edit_file", `{"path":"shop/one.py","old_string":"pass","new_string":"value = forgotten_symbol"}`, "ok")
	for k := range 12 {
		var lines strings.Builder
		for n := range 4 {
			fmt.Fprintf(&lines, "def handler_%d_%d(%s): return\\n", k, n, strings.Repeat(fmt.Sprintf("part_%d_%d, ", k, n), 9))
		}
		a.does("write_file", fmt.Sprintf(`{"path":"shop/part_%d.py","content":"%s"}`, k, lines.String()), "ok")
	}
	a.does("edit_file", `{"path":"shop/one.py","old_string":"a","new_string":"b_newest"}`, "ok")
	a.answers("Done.", "Go on.")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	if want := "\n>     forgotten_symbol = lookup_table(7)\n"; !strings.Contains(text, want) {
		t.Errorf("%q is not told: %s", want, text)
	}
}

// A name in an expression of sed is told without its command.
func TestTheCommandOfSedIsNoFolderOfAName(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.does("bash", `{"command":"sed -i 's/secrets.token_hex/uuid.uuid4/' shop/*.py"}`, "exit code: 0")
	for i := range 40 {
		a.does("bash", fmt.Sprintf(`{"command":"cd shop && prepare --part p%d and then check the ledger"}`, i*7919%1000), "ok\nexit code: 0")
		a.says(fmt.Sprintf("Part %d is checked.", i), "make all", "ok")
	}
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	if names := partOf(text, "names"); !strings.Contains(names, "secrets.token_hex uuid.uuid4") {
		t.Errorf("the names are %q in\n%s", names, text)
	}
}

// What a client says of a call above its output is no line of the failure.
func TestWhatStandsAboveAnOutputIsNotToldOfAFailure(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.does("exec_command", `{"cmd":"prepare --part 3"}`,
		"Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 3\nOriginal token count: 9\nOutput:\nthe table of rates is missing\n")
	a.does("exec_command", `{"cmd":"prepare --part 4"}`,
		"Chunk ID: a2\nWall time: 0.1 seconds\nProcess exited with code 3\nOriginal token count: 0\nOutput:\n")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	failures := partOf(text, "open failures")
	if !strings.Contains(failures, "\n> the table of rates is missing") || strings.Contains(failures, "token count") {
		t.Errorf("of the failures is told %q in\n%s", failures, text)
	}
}
