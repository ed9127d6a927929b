// Package history is what happened in a conversation: which calls were made, what they did with files, how they ended,
// and which results are worth nothing any more because of what came later.
//
// It grows with the conversation and reads no item twice. It keeps no body. What it says depends on the items alone,
// never on what was sent of them. Of each result it keeps for others what they have worked out once: the names in it,
// the size of its stub, what a model said of it, and how its call ended. What a call does is read by package action,
// and how it ended by package ending.
package history

import (
	"hash/maphash"
	"path"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
)

// History is what is known of a conversation's items behind the head, in order: item i is Items[Head+i] of the request.
// It grows with them, and what was read once is not read again. It does not keep the body.
type History struct {
	seed     maphash.Seed
	Chain    []conversation.Link // chain[i] names the first i items
	Sizes    []int               // tokens of each item as it came
	Media    []int               // of them, those of images, sound and documents
	Answers  []int               // assistant's messages up to and with the item
	Size     conversation.Size   // of all items together
	Results  []Result
	ResultAt []int // of each item, its result's index; -1 for what is none

	ShortSizes map[ShortItem]int // tokens of an assistant's item without long arguments, once that was asked for

	calls     *action.Calls // of the last assistant's message, by id
	files     watchedFiles
	latest    latest
	counting  counting
	Lines     *shorten.LineIndex // of results that are sent whole
	LinesRead int                // results that lines has been given, or that were not whole
}

// latest are the latest results of their kind.
type latest struct {
	ask   map[string]int // of reads that asked for the very same
	with  map[uint64]int // with this content
	begun begun
}

// counting is how the sizes were found.
type counting struct {
	works     []int // what counting the items up to and with each has cost
	estimated int   // the number, from 1 on, of the first item whose size is an estimate; 0 if none is
}

// watchedFiles are results by the last names of files that later calls may make worthless, or settle.
type watchedFiles struct {
	showing map[string][]int // results of file reads that are not spent
	writing map[string][]int // results of calls that wrote files and are not settled
	erasing map[string][]int // results of calls that delete or move files, whether they could or not
}

// Result is a tool's result.
type Result struct {
	action.Source
	Item      int      // behind the head
	remaining []string // of the files it shows, those that were not written since
	SpentBy   int      // the item that made it worthless; 0 if none did
	SpentWhy  string
	unsettled []string // of the files that its call wrote, those that nothing has shown or written since
	Settled   int      // the item from which on what its call wrote was shown or written again; 0 if not all of it was

	Failed bool // it says that its call did nothing

	Names Names    // in it, once they were asked for
	Stub  StubSize // of the item when it is cleared, once that was asked for

	Distillate Distillate // of it, as far as a model was asked

	ended *ending.Ending // how its call ended, once that was asked for
	// begun is the number, from 1 on, of the result whose call began the command that this is about; 0 if none did.
	begun int
}

// Names are some of a result's names, which take no more than so many bytes.
type Names struct {
	Within int
	List   string
}

// Distillate is what a model has said of a result, and how it was asked. What it is worth when the process ends lies
// with whoever asks.
type Distillate struct {
	Key   string // of the question; empty until it is put together
	Text  string // that may stand in a stub; empty if there is none yet
	Tries int    // how often it was to be asked ahead of need
	Unfit bool   // what was said may not stand in a stub
}

// StubSize is how many tokens an item takes when its result is cleared, if these words are said of it.
type StubSize struct {
	Said   StubWords
	Tokens int
}

// StubWords are what a cleared result's stub says that may change while the conversation goes on, and with the limits.
type StubWords struct {
	Why                       string
	Shows                     string // the artifact that it was asked for to show
	Spent, Again, Gone, Split bool   // it is worthless, shown again later, its file deleted; its lines lie beside it
	ReadAtOnce, Names         int    // limits
	ByTool, NoReader          bool   // it is read back with epitome's tool, or by nothing that is known
	Distillate                string // what a model wrote of it; empty if nothing of that stands there
}

// ShortItem is an assistant's item without long arguments, of which texts of up to ReadAtOnce tokens are to be read
// whole.
type ShortItem struct {
	Item, ReadAtOnce int
	ByTool, NoReader bool // they are read with epitome's tool, or by nothing that is known
}

// New returns the history of no item.
func New() *History {
	return &History{
		seed: maphash.MakeSeed(), ShortSizes: map[ShortItem]int{}, calls: action.NewCalls(),
		files:  watchedFiles{showing: map[string][]int{}, writing: map[string][]int{}, erasing: map[string][]int{}},
		latest: latest{ask: map[string]int{}, with: map[uint64]int{}, begun: begun{}}, Lines: shorten.NewLineIndex(),
	}
}

// Len returns how many items are known.
func (h *History) Len() int { return len(h.Sizes) }

// Extend reads the request's items that are not known yet. What the provider passes over takes nothing.
func (h *History) Extend(r *conversation.Request, s conversation.Scale) {
	r.MarkOpaque(r.Head + h.Len())
	h.Chain = r.ChainFrom(h.Chain)
	group := 0
	if n := h.Len(); n > 0 {
		group = h.Answers[n-1]
	} else {
		h.makeRoom(r)
	}
	for i := h.Len(); i < len(r.Items)-r.Head; i++ {
		it := &r.Items[r.Head+i]
		if it.Begins {
			group++
		}
		if it.Role == conversation.Assistant {
			h.calls.Learn(r, it)
		}
		m := r.MeasureItem(h.Scale(r, s, i), it, r.AnswersOneOfSeveral(r.Head+i))
		if m.Estimated && !h.IsEstimated() {
			h.counting.estimated = i + 1
		}
		h.Size.Add(it.Role, m.Text, m.Media)
		h.Sizes, h.Media = append(h.Sizes, m.Text+m.Media), append(h.Media, m.Media)
		h.counting.works, h.Answers = append(h.counting.works, h.workBefore(i)+m.Work), append(h.Answers, group)
		h.ResultAt = append(h.ResultAt, -1)
		if it.Role == conversation.Tool {
			h.ResultAt[i] = len(h.Results)
			h.learnResult(r, it, i)
		}
	}
	for i := range conversation.Dead(r) {
		if h.Sizes[i] == 0 {
			continue
		}
		h.Size.Add(r.Items[r.Head+i].Role, h.Media[i]-h.Sizes[i], -h.Media[i])
		h.Sizes[i], h.Media[i] = 0, 0
		h.Lines.Drop(i)
	}
}

// makeRoom is for the first request of a conversation, which may have very many items.
func (h *History) makeRoom(r *conversation.Request) {
	n, results := len(r.Items)-r.Head, 0
	for i := r.Head; i < len(r.Items); i++ {
		if r.Items[i].Role == conversation.Tool {
			results++
		}
	}
	h.Results, h.Sizes, h.Media = make([]Result, 0, results), make([]int, 0, n), make([]int, 0, n)
	h.counting.works, h.Answers, h.ResultAt = make([]int, 0, n), make([]int, 0, n), make([]int, 0, n)
}

// Scale is s as item i is measured with it, all before which is known.
func (h *History) Scale(r *conversation.Request, s conversation.Scale, i int) conversation.Scale {
	return s.Within(r, &r.Items[r.Head+i], h.workBefore(i))
}

// workBefore is what counting the items before item i has cost.
func (h *History) workBefore(i int) int {
	if i == 0 {
		return 0
	}
	return h.counting.works[i-1]
}

// IsEstimated reports whether the size of an item is an estimate.
func (h *History) IsEstimated() bool {
	return h.counting.estimated > 0 && h.counting.estimated <= h.Len()
}

// learnResult takes a result in, and notes which earlier ones it makes worthless.
func (h *History) learnResult(r *conversation.Request, it *conversation.Item, i int) {
	n := len(h.Results)
	h.Results = append(h.Results, Result{Item: i, Source: h.calls.SourceOf(it)})
	raw := it.Content.Of(r.Body)
	h.latest.begun.learn(n, &h.Results[n], raw)
	h.spendRepeated(raw, n)
	h.learnDeleted(n)
	if ending.DidNothing(&h.Results[n].Source, raw) {
		h.Results[n].Failed = true
		return
	}
	d := &h.Results[n].Action
	if len(d.Reads)+len(d.Writes) > 0 && ending.MayBeRefused(&h.Results[n].Source, raw) {
		return
	}
	for _, file := range d.Writes {
		h.spendWritten(file, i)
	}
	h.settle(n)
	if len(d.Reads) == 0 || len(d.Writes) > 0 {
		return
	}
	if d.Identity != "" {
		if k, ok := h.latest.ask[d.Identity]; ok {
			h.spend(k, i, WhyReadAgain)
		}
		h.latest.ask[d.Identity] = n
	}
	if d.OnlyFiles {
		h.learnShown(n)
	}
}

// learnDeleted notes which files the call of a result deletes or moves.
func (h *History) learnDeleted(n int) {
	for _, gone := range h.Results[n].Action.Deletes {
		base := path.Base(gone)
		h.files.erasing[base] = append(h.files.erasing[base], n)
	}
}

// learnShown notes which files a result shows and nothing else.
func (h *History) learnShown(n int) {
	res := &h.Results[n]
	res.remaining = slices.Clone(res.Action.Reads)
	for _, file := range res.remaining {
		base := path.Base(file)
		if known := h.files.showing[base]; len(known) >= mostReadings {
			h.files.showing[base] = known[1:]
		}
		h.files.showing[base] = append(h.files.showing[base], n)
	}
}

// mostReadings is how many results that show files of one last name are watched for a later write: the latest.
const mostReadings = 200

// shortest is the content in bytes below which two equal results are a coincidence.
const shortest = 80

func (h *History) spendRepeated(raw []byte, n int) {
	if len(raw) <= shortest {
		return
	}
	sum := maphash.Bytes(h.seed, raw)
	if k, ok := h.latest.with[sum]; ok {
		h.spend(k, h.Results[n].Item, WhySameText)
	}
	h.latest.with[sum] = n
}

// spendWritten notes that a file was changed by the call whose result is item i. What showed it and nothing else is
// out of date.
func (h *History) spendWritten(file string, i int) {
	base := path.Base(file)
	h.files.showing[base] = slices.DeleteFunc(h.files.showing[base], func(k int) bool {
		res := &h.Results[k]
		before := len(res.remaining)
		res.remaining = slices.DeleteFunc(res.remaining, func(f string) bool { return shell.SameFile(f, file) })
		if len(res.remaining) == 0 {
			h.spend(k, i, WhyWritten)
		}
		return len(res.remaining) < before
	})
}

// Why a result is worth nothing any more, as a stub says it.
const (
	WhyReadAgain = "the same was read again later"
	WhySameText  = "the same text came again later"
	WhyWritten   = "what it shows was written later"
)

// settle notes which earlier calls' effects result n shows or its call has written over, and which files its own call
// wrote.
func (h *History) settle(n int) {
	d := &h.Results[n].Action
	all := slices.Concat(d.Writes, d.Reads)
	if !d.Whole {
		all = nil
	}
	for _, file := range all {
		base := path.Base(file)
		h.files.writing[base] = slices.DeleteFunc(h.files.writing[base], func(k int) bool {
			res := &h.Results[k]
			before := len(res.unsettled)
			res.unsettled = slices.DeleteFunc(res.unsettled, func(f string) bool { return shell.SameFile(f, file) })
			if len(res.unsettled) == 0 {
				res.Settled = h.Results[n].Item
			}
			return len(res.unsettled) < before
		})
	}
	res := &h.Results[n]
	res.unsettled = slices.Clone(d.Writes)
	for _, file := range res.unsettled {
		base := path.Base(file)
		if known := h.files.writing[base]; len(known) >= mostReadings {
			h.files.writing[base] = known[1:]
		}
		h.files.writing[base] = append(h.files.writing[base], n)
	}
}

// KnownEnding returns how the call ended that the result answers; nil if that was not asked for yet.
func (r *Result) KnownEnding() *ending.Ending { return r.ended }

// LearnEnding reads how the call ended whose result has the text. raw is the result as it stands in the body.
func (r *Result) LearnEnding(raw []byte, text string) *ending.Ending {
	r.ended = ending.Of(&r.Source, raw, text)
	return r.ended
}

func (h *History) spend(k, by int, why string) {
	if res := &h.Results[k]; res.SpentBy == 0 {
		res.SpentBy, res.SpentWhy = by, why
	}
}

// ShownAgain returns the item that shows the same as the result, later; 0 if none does.
func (r *Result) ShownAgain() int {
	if r.SpentWhy == WhyReadAgain || r.SpentWhy == WhySameText {
		return r.SpentBy
	}
	return 0
}

// MayBeGone reports whether a later call than the one that res answers asked to delete or to move the file, or a folder
// in which it is. Of the calls that did so with one last name the latest count.
func (h *History) MayBeGone(file string, res *Result) bool {
	for at := file; at != "." && at != "/" && at != ""; at = path.Dir(at) {
		known := h.files.erasing[path.Base(at)]
		for _, k := range slices.Backward(known[max(0, len(known)-mostReadings):]) {
			if h.Results[k].Item <= res.Item {
				break
			}
			same := func(gone string) bool { return shell.SameFile(at, gone) }
			if slices.ContainsFunc(h.Results[k].Action.Deletes, same) {
				return true
			}
		}
	}
	return false
}

// ForgetLines is for when it is no longer known which results are sent whole.
func (h *History) ForgetLines() {
	if h.LinesRead > 0 {
		h.Lines, h.LinesRead = shorten.NewLineIndex(), 0
	}
}

// Truncate forgets all items from n on. There must be no assistant's or tool's among them.
func (h *History) Truncate(r *conversation.Request, n int) {
	for i := n; i < h.Len(); i++ {
		h.Size.Add(r.Items[r.Head+i].Role, h.Media[i]-h.Sizes[i], -h.Media[i])
	}
	h.Chain, h.Sizes, h.Media, h.Answers, h.ResultAt = h.Chain[:n+1], h.Sizes[:n], h.Media[:n], h.Answers[:n],
		h.ResultAt[:n]
	h.counting.works = h.counting.works[:n]
	if h.counting.estimated > n {
		h.counting.estimated = 0
	}
}
