package activity

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"epitome/dialect/conversation"
)

// history finds stale results. It takes calls in the order of their results, and compares each result only with the
// newest one of an equal call, and with reads of the same file.
type history struct {
	request *conversation.Request
	newest  map[[3]string]*Call // by what was called: the call with the newest result
	reads   map[string][]*Call  // by file: the newest reads that no later call has replaced
	sizes   map[int]*Call       // by the bytes of a result: the newest call with such a one
}

// Beyond these, older reads of a file and other files of a call are not looked at, as work must not grow with their
// product.
const maxReads, maxFiles = 64, 16

// leastEqual is how many bytes an older result needs to be stale, whatever it was called for, as a newer one is equal.
const leastEqual = 1_000

// add adds a call, whose result is the newest; a new one makes older results stale.
func (h *history) add(c *Call, isNew bool) {
	isOfFiles := c.Kind == Write || c.Kind == Read && len(c.Files) == 1
	if c.end == noEnd || c.Kind == Ask || c.Failed() && isOfFiles {
		return
	}
	content := h.content(c)
	old := h.sizes[len(content)]
	if old != nil && isNew && len(content) >= leastEqual && bytes.Equal(h.content(old), content) {
		old.Replaced = c.Result
	}
	h.sizes[len(content)] = c
	if isOfFiles {
		h.addFiles(c, isNew)
		return
	}
	key := [...]string{c.Tool, c.About, c.part}
	if old := h.newest[key]; old != nil && isNew {
		if c.Kind.Looks() && !old.Failed() {
			c.Again = old.Result
		}
		if h.repeats(c, old) {
			old.Replaced = c.Result
		}
	}
	h.newest[key] = c
}

// addFiles adds a call that reads a file or writes some.
func (h *history) addFiles(c *Call, isNew bool) {
	for _, file := range c.Files[:min(len(c.Files), maxFiles)] {
		if h.request.Folder != "" {
			file = strings.TrimPrefix(file, h.request.Folder+"/")
		}
		reads := h.reads[file]
		if isNew && c.Kind == Read {
			c.Again = lastRead(c, reads)
		}
		if isNew {
			reads = slices.DeleteFunc(reads, func(read *Call) bool { return h.replaces(c, read) })
		}
		if c.Kind == Read && c.Replaced == 0 {
			reads = append(reads, c)
		}
		h.reads[file] = reads[max(0, len(reads)-maxReads):]
	}
}

// lastRead returns the item of the newest of some reads of a file that has what c reads: the same part, or the whole.
func lastRead(c *Call, reads []*Call) (item int) {
	for _, read := range slices.Backward(reads) {
		if read.Tool == c.Tool && (read.part == "" || read.part == c.part) {
			return read.Result
		}
	}
	return 0
}

// replaces marks a read of a file that c reads or writes, and reports whether c has all that the read shows. A new read
// has by its arguments and its size: a client may answer with a note that the file has not changed.
func (h *history) replaces(c, read *Call) bool {
	isReplaced := whole.MatchString(c.Tool)
	if c.Kind == Read {
		size, oldSize := len(h.content(c)), len(h.content(read))
		isReplaced = c.part == read.part && size >= oldSize/2 || c.part == "" && size >= oldSize
	} else if read.Patched == 0 {
		read.Patched = c.Result
	}
	if isReplaced {
		read.Replaced = c.Result
	}
	return isReplaced
}

// content returns the JSON of what the result of a call says.
func (h *history) content(c *Call) []byte {
	return h.request.Items[c.Result].Content.Of(h.request.Body)
}

// repeats reports whether nine of ten lines of two results are the same, but for times.
func (h *history) repeats(c, old *Call) bool {
	size, oldSize := len(h.content(c)), len(h.content(old))
	if max(size, oldSize) > 2*min(size, oldSize) {
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

var timeForm = regexp.MustCompile(
	`^(?:(?:\d{4}-\d\d-\d\dT)?\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?Z?|[\d.,]+(?:[nµum]?s|m|h))$`)

// withoutTimes returns a line without times of day and numbers with a unit of time. Other numbers stay.
func withoutTimes(line string) string {
	if !strings.ContainsAny(line, "0123456789") {
		return line
	}
	words := strings.Fields(strings.ReplaceAll(line, " ms", "ms"))
	return strings.Join(slices.DeleteFunc(words, func(word string) bool {
		return timeForm.MatchString(strings.Trim(word, "()[],"))
	}), " ")
}
