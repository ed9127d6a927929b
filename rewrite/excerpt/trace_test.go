package excerpt

import (
	"slices"
	"strings"
	"testing"
)

// What a trace of Python ends in has any name, and stands with its place among the lines that tell.
func TestATraceEndsInWhatItRaised(t *testing.T) {
	const head = "Traceback (most recent call last):\n  File \"/srv/etl/load.py\", line 41, in load\n    hook.run(sql)\n"
	const library = "  File \"/usr/lib/python3/dist-packages/hooks/sql.py\", line 457, in run\n    self._run(sql)\n"
	const place = "File \"/srv/etl/load.py\", line 41, in load"
	f := func(text string, want ...string) {
		t.Helper()
		if got := Failures(text, 3); !slices.Equal(got, want) {
			t.Errorf("%q has the failures %q, want %q", text, got, want)
		}
	}
	const raised = "psycopg2.errors.UndefinedColumn: column \"cents\" does not exist"
	f(head+library+raised+"\nLINE 1: SELECT cents\n", place, raised)
	f("09:31:14 step 7\n"+head+library+"queue.Empty\n09:31:15 step 8\n", place, "queue.Empty")
	f("Applying shop.0040_cents..."+head+raised+"\n", place, raised)
	f(head+raised+"\n\nThe above exception was the direct cause of the following exception:\n\n"+
		"Traceback (most recent call last):\n  File \"/srv/.venv/bin/alembic\", line 8, in <module>\n    sys.exit(main())\nValueError: no\n",
		place, raised, "ValueError: no")
	f("Traceback (most recent call last):\n    ...\nall.is_well: yes\n")
	f(head + "\nall.Is.well: yes\n")
	f(head + "all is well\n")
}

// Lines of a trace may each stand behind the name of the process that wrote it, or behind a level.
func TestATraceIsReadBehindThePrefixesOfItsLines(t *testing.T) {
	lines := []string{"Traceback (most recent call last):", "  File \"/srv/llm/train.py\", line 187, in main", "    loss.backward()",
		"  File \"/opt/conda/lib/python3.11/site-packages/torch/_tensor.py\", line 522, in backward", "    torch.backward(",
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1.12 GiB left."}
	f := func(prefix string) {
		t.Helper()
		text := ""
		for _, l := range lines {
			text += prefix + l + "\n"
		}
		want := []string{strings.TrimSpace(prefix + lines[1]), prefix + lines[5]}
		if got := Failures(text, 3); !slices.Equal(got, want) {
			t.Errorf("%q has the failures %q, want %q", text, got, want)
		}
	}
	f("")
	f("[rank3]: ")
	f("(RayTrainWorker pid=4242, ip=10.2.0.7) ")
	f("trainer-1  | ")
}

// Of processes with ranks that fail in the same way, one tells it.
func TestProcessesThatSayTheSameAreToldOnce(t *testing.T) {
	var b strings.Builder
	for _, rank := range []string{"0", "1", "2", "3"} {
		b.WriteString("[rank" + rank + "]: Traceback (most recent call last):\n[rank" + rank + "]:   File \"/srv/llm/train.py\", line 187, in main\n" +
			"[rank" + rank + "]:     loss.backward()\n[rank" + rank + "]: torch.OutOfMemoryError: CUDA out of memory on GPU " + rank + "\n")
	}
	b.WriteString("[rank4]: ValueError: no batch\n")
	want := []string{"[rank0]:   File \"/srv/llm/train.py\", line 187, in main", "[rank0]: torch.OutOfMemoryError: CUDA out of memory on GPU 0",
		"[rank4]: ValueError: no batch"}
	if got := Failures(b.String(), 3); !slices.Equal(got, want) {
		t.Errorf("told is %q", got)
	}
	e, _ := Of(strings.Repeat("step 1 | loss 2.5\n", 200)+b.String()+strings.Repeat("step 2 | loss 2.5\n", 200),
		Budget{Tokens: 200, Head: 0.5, Count: pieces}, ownMark)
	if shown := brief(e); !strings.Contains(shown, want[0]) || !strings.Contains(shown, want[2]) {
		t.Errorf("not seen: %q in\n%s", want, shown)
	}
}

// Behind some lines that say what failed, the next one says why.
func TestTheMessageOfAFailureStandsOnTheNextLine(t *testing.T) {
	f := func(first, second string) {
		t.Helper()
		if got := Failures("begun\n"+first+"\n  "+second+"\nended\n", 3); !slices.Equal(got, []string{first, second}) {
			t.Errorf("told is %q, want %q and %q", got, first, second)
		}
	}
	f("Database Error in model fct_refunds (models/fct_refunds.sql)", "column \"amount_cents\" does not exist")
	f("Compilation Error in model fct_refunds (models/fct_refunds.sql)", "'ref_x' is undefined.")
	f("Failure in test unique_orders_order_id (models/schema.yml)", "Got 212 results, configured to stop if != 0")
	f("Msg 208, Level 16, State 1, Line 1", "Invalid object name 'refunds'.")
	f("thread 'main' panicked at src/main.rs:12:5:", "no DATABASE_URL")
	f("An error was encountered processing the command (domain=com.apple.CoreSimulator.SimError, code=405):",
		"Unable to boot device in current state: Booted")
}
