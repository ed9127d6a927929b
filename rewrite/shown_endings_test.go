package rewrite

import (
	"fmt"
	"strings"
	"testing"
)

// theRefusal is how a client tells what its user said instead of letting a call be made.
const theRefusal = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"

// showEndings shows results whose calls ended in less common ways.
func showEndings(t *testing.T, p *showing) {
	t.Helper()
	a := clearing()
	built := eachOf(40, func(i int) string { return fmt.Sprintf("cc -c part_%d.c -o part_%d.o\n", i, i) })
	page := "url: http://shop/orders\n" + eachOf(60, func(i int) string { return fmt.Sprintf("row 'order %d of the shop is paid'\n", i) })
	a.does("exec_command", `{"cmd":"make all"}`, "Process running with session ID 42\nOutput:\n"+built)
	a.does("write_stdin", `{"session_id":42,"chars":""}`, "Process exited with code 0\nOutput:\n"+built)
	a.does("bash", `{"command":"make deploy"}`, theRefusal+strings.Repeat("Not on a Friday. ", 60))
	a.does("bash", `{"command":"make deploy"}`, built+"\nCommand aborted")
	a.does("browser_click", `{"element":"button 7"}`, page)
	a.does("browser_click", `{"element":"button 8"}`, strings.Replace(page, "\n", "\nerror: TimeoutError: button 8 is hidden\n", 1)+page+page)
	a.does("edit_file", `{"path":"share.go"}`, "The file share.go has been updated.\n"+sourceText(8))
	a.does("bash", `{"command":"git rebase main"}`, built+"Successfully rebased and updated refs/heads/refund.\n")
	a.does("bash", `{"command":"diff -u old new"}`, eachOf(60, func(i int) string { return fmt.Sprintf("-part_%d.o\n", i) })+
		"\nCommand exited with code 1")
	a.work(1, 600)
	showWhenCleared(t, p, a, a.calls-1, "An old result was cleared, and its call ended in another way.")
}
