package ending

import (
	"math/rand/v2"
	"strings"
	"testing"

	"epitome/pattern"
)

// Expressions are looked at only where a word of theirs stands: no text with a match may lack it. FindStringIndex asks
// the expression alone.
func TestHintsMissNoLine(t *testing.T) {
	forms := []*pattern.Pattern{errorForm, exitForm, besideExit, runningForm, statusForm}
	for i := range refusals {
		forms = append(forms, refusals[i].begins)
	}
	pieces := strings.Fields("error exception failed failure fehler erreur errore erro ошибка エラー 错误 traceback exec_command " +
		"<tool_use_error> exit exited code status return returncode process command program completed with shellid in terminal wall " +
		"time duration session id chunk directory cwd signal background pids group pgid original token count <id>x</id> </id> " +
		"running manually backgrounded by user moved to is still <status>running</status> The doesn't want proceed this tool use " +
		"take action right now denied operation rejected declined permission specific call cancelled interrupted aborted request " +
		"[Request Permission has been specified a rule which prevents you Claude requested permissions granted yet requires approval " +
		"timed out did not complete finish within Command aborted 0 1 137 : ( ) [ ] . , \" ``` most recent TS2304")
	random, found := rand.New(rand.NewPCG(1, 2)), 0
	check := func(line string) {
		t.Helper()
		for _, f := range forms {
			want := f.FindStringIndex(line) != nil
			if got := f.MatchString(line); got != want {
				t.Fatalf("%q: %v, want %v", line, got, want)
			}
			if want {
				found++
			}
		}
	}
	for range 20_000 {
		var line []string
		for range 1 + random.IntN(6) {
			line = append(line, pieces[random.IntN(len(pieces))])
		}
		text := strings.Join(line, " ")
		check(text)
		check(strings.ToUpper(text))
	}
	for _, line := range []string{"Exit code: 1", "Process exited with code 137", "[exit status 2]", "Wall time: 1 s", "returncode=1",
		"User rejected the tool", "Error: rejected by the user", "[Request interrupted by user for tool use]", "Command timed out after 2m",
		"Command aborted.", "This command requires approval", "Process running with session ID 7", "error TS2304: x", "FAILED"} {
		check(line)
	}
	if found < 500 {
		t.Errorf("%d matches: the test shows little", found)
	}
}
