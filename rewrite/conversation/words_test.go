package conversation

import "testing"

func TestOnlyWhatClientsPutAroundAUsersWordsIsLeftOut(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := OwnWords(text); got != want {
			t.Errorf("of %q these are the user's: %q, want %q", text, got, want)
		}
	}
	const note = "<system-reminder>\nToday is <b>Friday</b>.\n</system-reminder>"
	f("", "")
	f("  Mend it.\n\n", "  Mend it.\n\n")
	f(note, "")
	f(note+"\n"+note+"\n", "")
	f(note+"\nMend it.\n  At once.", "Mend it.\n  At once.")
	f("Mend it.\n\n"+note+"\n", "Mend it.")
	f("<current_datetime>2026-11-20</current_datetime>\n\nMend it.\n"+note, "Mend it.")
	f("<current_datetime>now</current_datetime>\n\nMend it.\n\n<system_reminder>\n<t>todos</t>\n</system_reminder>\n", "Mend it.")
	f("<environment_details>\n# Time\n</environment_details>"+note, "")
	const task = "<task-notification>\n<task-id>b1</task-id>\n<output-file>/tmp/b1.output</output-file>\n<status>failed</status>\n" +
		"<summary>Background command \"make docs\" failed with exit code 2</summary>\n</task-notification>"
	f(task, "")
	f(task+"\nRead the output file to retrieve the result: /tmp/b1.output", "")
	f(task+"\nRead the output file to retrieve the result: /tmp/b1.output\nMend it.", "Mend it.")
	f(task+"\nRead the output file to retrieve the result: /tmp/b1.output.old", "Read the output file to retrieve the result: /tmp/b1.output.old")
	f("Read the output file to retrieve the result: /tmp/b1.output", "Read the output file to retrieve the result: /tmp/b1.output")
	// what the user quotes is the user's
	f("Why does it say "+note+" there?", "Why does it say "+note+" there?")
	f("<system-reminder> is shown", "<system-reminder> is shown")
	f("what closes it is </system-reminder>", "what closes it is </system-reminder>")
	f("<rules>never push</rules>", "<rules>never push</rules>")
	f("<command-name>/review</command-name>", "<command-name>/review</command-name>")
}
