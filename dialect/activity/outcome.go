package activity

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
	"epitome/offload/excerpt"
)

// exitForm matches an exit code, in one of its two groups: on a line that says nothing else, or in a field of JSON.
var exitForm = regexp.MustCompile(`(?im)^[\[(<*\s]*(?:error: )?` +
	`(?:(?:the )?(?:process|command|program|shell|script) )?` +
	`(?:has )?(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?` +
	`(?:exit[ _]?code|exit[ _]status|return[ _]?code)|exited with (?:code|status))` +
	`[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*\s])*$|` +
	`"(?:exit_?code|exit_?status|return_?code)" ?: ?(\d{1,3})\b`)

// How results say that a call failed or did not end: all that is known of the words of clients and tools. They begin
// the result, or a line near its ends.
var (
	// refusal: the client or the user did not let the call run, or the client stopped it.
	refusal = regexp.MustCompile(`(?im)\A[^\w{"]*(?:<tool_use_error>|the user doesn't want to \w+|` +
		`(?:[\w'-]+ ){0,6}(?:rejected|denied|declined) by (?:the )?user)|^\s*command timed out after\b`)

	// report: the call failed.
	report = regexp.MustCompile(`(?im)\A[^\w{"]*(?:(?:\w+ )?(?:\w*error|err|\w*exception)\b(?:[^\n:]{0,60}:|\W*$)|` +
		`.{0,60}\bfailed: \D|failed to\b|fatal: |permission\b.{0,60}\bdenied|` +
		`(?:[\w'-]+ ){0,4}timed out(?: after\b|\W*$)|` +
		`http(?:/[\d.]+)?(?: error| status)?:? [45]\d\d\b|.{0,60}\bstatus(?: code)?:? [45]\d\d\b)`)

	// interruption: the call was broken off, after a part of its work or all of it, or it goes on.
	interruption = regexp.MustCompile(`(?im)\A[^\w{"]*` +
		`(?:(?:request|command|tool call|operation|execution) (?:was )?)?` +
		`(?:(?:aborted|interrupted)(?:\W*$| by (?:the )?user)|cancell?ed by (?:the )?user)|` +
		`^\s*(?:process running with session|command aborted\b|command (?:is )?running in (?:the )?background)`)

	// failingStatus is the JSON of an HTTP status that is an error.
	failingStatus = regexp.MustCompile(`^"?[45]\d\d"?$`)
)

// near is how many bytes at each end of a result are looked at: what stands further inside is more likely output.
const near = 300

// ends returns what stands near the ends of a text. With a letter at the cuts, half a number or line is no match.
func ends(text string) string {
	if len(text) <= 2*near {
		return text
	}
	return text[:near] + "x\nx" + text[len(text)-near:]
}

// exitCode returns the exit code that a client states at the beginning or the end of a result; -1 if it states none.
func exitCode(text string) int {
	m := exitForm.FindStringSubmatch(ends(text))
	if m == nil {
		return -1
	}
	code, _ := strconv.Atoi(m[1] + m[2]) // one of them is empty
	return code
}

// readEnd sets how the call ended by the text of its result. isMarked says that the client marked it as failed.
//
// A result of kind Read, Search, Fetch or Run is mostly text that others wrote, which may begin like a report of a
// failure: a log, or a page about errors. So a report counts there only if it is all of the result, on one line, and an
// object with an error only if it is short. Answers of the user (Ask) may say anything. An exit code outweighs words,
// and a mark an exit code of 0.
func (c *Call) readEnd(text string, isMarked bool) {
	const short = 2_000 // bytes
	c.IsError = isMarked
	c.IsOpen = false
	isQuote := c.Kind == Read || c.Kind == Search || c.Kind == Fetch
	if !isQuote && c.Kind != Ask { // others may only mention an exit code
		c.Exit = exitCode(text)
	}
	if c.Exit >= 0 || c.Kind == Ask {
		return
	}
	isQuote = isQuote || c.Kind == Run
	said := strings.TrimSpace(text)
	if inner := jsonspan.Wrapped(text); !inner.Empty() {
		said = strings.TrimSpace(string(jsonspan.TextOf([]byte(text[inner.Start:inner.End]))))
	}
	mayReport := !isQuote && len(said) <= short || len(said) <= near && !strings.Contains(said, "\n")
	words := ends(said)
	c.IsOpen = interruption.MatchString(words)
	saysError := refusal.MatchString(words) || mayReport && report.MatchString(words) ||
		hasError(text, !isQuote || len(text) <= short)
	c.IsError = !c.IsOpen && (isMarked || saysError)
}

// hasError reports whether a text begins with a JSON object that says, at its top level, that the call failed: by MCP's
// mark, or if allKeys is set, by a key that is common for it.
func hasError(text string, allKeys bool) bool {
	o, err := jsonspan.ObjectAt([]byte(strings.TrimSpace(text)), 0)
	if err != nil {
		return false
	}
	nothing := []string{"", "null", "false", "0", `""`, "{}", "[]"}
	reason := strings.Join(strings.Fields(o.Raw("error")), "")
	isFailing := func(key string) bool { return failingStatus.MatchString(o.Raw(key)) }
	return o.Raw("isError") == "true" || o.Raw("is_error") == "true" ||
		allKeys && (!slices.Contains(nothing, reason) || o.Raw("success") == "false" || o.Raw("ok") == "false" ||
			isFailing("status") || isFailing("statusCode") || isFailing("status_code"))
}

// State returns how the call ended: "ok", "failed", "failed, exit code 3", or "unknown" if there is no result or the
// result says that the call was broken off or goes on.
func (c *Call) State() string {
	switch {
	case c.Failed() && c.Exit > 0:
		return fmt.Sprintf("failed, exit code %d", c.Exit)
	case c.Failed(): // maybe with exit code 0: the client knows better
		return "failed"
	case c.IsOpen:
		return "unknown"
	}
	return "ok"
}

// Failed reports whether the result says that the call failed.
func (c *Call) Failed() bool { return c.Exit > 0 || c.IsError }

// Failure returns the lines of a call's result that report its failure. They are empty if the call did not fail, or is
// not a command without an exit code whose output reports a failure.
func (c *Call) Failure(result string) string {
	if !c.Failed() && (c.Kind != Run || c.Exit >= 0) {
		return ""
	}
	screen, _ := excerpt.Screen(result)
	return excerpt.Failure(screen, c.Failed())
}

// history finds stale results. It takes calls in the order of their results, and compares each result only with the
// newest one of an equal call, and with reads of the same file.
type history struct {
	request *conversation.Request
	calls   []Call
	newest  map[[3]string]int // by what was called: the call with the newest result
	reads   map[string][]int  // by file: the newest reads that no later call has replaced
}

// Beyond these, older reads of a file and other files of a call are not looked at, as work must not grow with their
// product.
const maxReads, maxFiles = 64, 16

// add adds call k, whose result is the newest; a new one makes older results stale.
func (h *history) add(k int, isNew bool) {
	c := &h.calls[k]
	isRead := c.Kind == Read && len(c.Files) == 1
	files := slices.Compact(slices.Sorted(slices.Values(c.Files[:min(len(c.Files), maxFiles)])))
	if c.IsOpen || c.Kind == Ask || c.Failed() && (isRead || c.Kind == Write) {
		return
	}
	if isRead || c.Kind == Write {
		for _, file := range files {
			reads := h.reads[file]
			if isNew && isRead {
				c.Again = h.lastRead(c, reads)
			}
			if isNew {
				reads = slices.DeleteFunc(reads, func(n int) bool { return h.replaces(c, &h.calls[n]) })
			}
			if isRead && c.Replaced == 0 {
				reads = append(reads, k)
			}
			h.reads[file] = reads[max(0, len(reads)-maxReads):]
		}
		return
	}
	key := [...]string{c.Tool, c.About, c.part}
	if n, ok := h.newest[key]; ok && isNew {
		old := &h.calls[n]
		if c.Kind.Looks() && !old.Failed() {
			c.Again = old.Result
		}
		if h.repeats(c, old) {
			old.Replaced = c.Result
		}
	}
	h.newest[key] = k
}

// lastRead returns the item of the newest of some reads of a file that has what c reads: the same part, or the whole.
func (h *history) lastRead(c *Call, reads []int) (item int) {
	for _, n := range slices.Backward(reads) {
		read := &h.calls[n]
		if read.Tool == c.Tool && (read.part == "" || read.part == c.part) {
			return read.Result
		}
	}
	return 0
}

// replaces marks a read of a file that c reads or writes, and reports whether c has all that the read shows. A new read
// has by its arguments and its size: a client may answer with a note that the file has not changed.
func (h *history) replaces(c, read *Call) bool {
	isReplaced := c.isWhole
	if c.Kind == Read {
		size, oldSize := h.size(c), h.size(read)
		isReplaced = c.part == read.part && size >= oldSize/2 || c.part == "" && size >= oldSize
	} else if read.Patched == 0 {
		read.Patched = c.Result
	}
	if isReplaced {
		read.Replaced = c.Result
	}
	return isReplaced
}

// size returns the bytes of a call's result.
func (h *history) size(c *Call) int {
	content := h.request.Items[c.Result].Content
	return content.Len()
}

// repeats reports whether nine of ten lines of two results are the same, but for times.
func (h *history) repeats(c, old *Call) bool {
	if size, oldSize := h.size(c), h.size(old); max(size, oldSize) > 2*min(size, oldSize) {
		return false
	}
	lines := strings.Split(c.ResultText(h.request), "\n")
	oldLines := strings.Split(old.ResultText(h.request), "\n")
	left := map[string]int{} // how many of the old lines no new line has matched
	for _, line := range oldLines {
		left[withoutTimes(line)]++
	}
	same := 0
	for _, line := range lines {
		line = withoutTimes(line)
		if left[line] > 0 {
			left[line]--
			same++
		}
	}
	return 10*same >= 9*max(len(lines), len(oldLines))
}

// withoutTimes returns a line without times of day and numbers with a unit of time. Other numbers stay.
func withoutTimes(line string) string {
	if !strings.ContainsAny(line, "0123456789") {
		return line
	}
	words := strings.Fields(strings.ReplaceAll(line, " ms", "ms"))
	return strings.Join(slices.DeleteFunc(words, func(word string) bool {
		word = strings.Trim(word, "()[],")
		isNumber := word != "" && word[0] >= '0' && word[0] <= '9'
		return isNumber && (strings.Contains(word, ":") || strings.HasSuffix(word, "s"))
	}), " ")
}
