// Package history is what happened in a conversation: which calls were made, what they did with files, how they ended,
// and which results are worth nothing any more because of what came later.
//
// It grows with the conversation and reads no item twice. It keeps no body. What it says depends on the items alone,
// never on what was sent of them.
package history

import (
	"hash/maphash"
	"strconv"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
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

	calls    *activity.Calls  // of the last assistant's message
	showing  map[string][]int // results that show a file alone, by its path
	written  map[string]int   // the last result of a call that wrote a file alone and is not settled
	latest   map[string]int   // the last result with this content, or that was asked for with this call
	counting counting
}

// counting is how the sizes were found.
type counting struct {
	works     []int // what counting the items up to and with each has cost
	estimated int   // the number, from 1 on, of the first item whose size is an estimate; 0 if none is
}

// Result is a tool's result.
type Result struct {
	activity.Call
	Item     int // behind the head
	Exit     int // the exit code that it tells; -1 if it tells none
	SpentBy  int // the item that made it worthless; 0 if none did
	SpentWhy string
	Settled  int // the item from which on what its call wrote was shown or written again; 0 if it was not

	Stub       StubSize   // of the item when it is cleared, once that was asked for
	Distillate Distillate // of it, as far as a model was asked
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
	Why                 string
	Shows               string // the artifact that it was asked for to show
	Spent, Again, Split bool   // it is worthless, shown again later; its lines lie beside it
	ReadAtOnce          int    // a limit
	ByTool, NoReader    bool   // it is read back with epitome's tool, or by nothing that is known
	Distillate          string // what a model wrote of it; empty if nothing of that stands there
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
		seed: maphash.MakeSeed(), ShortSizes: map[ShortItem]int{}, calls: activity.NewCalls(),
		showing: map[string][]int{}, written: map[string]int{}, latest: map[string]int{},
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
	res := Result{Item: i, Call: h.calls.Answered(it)}
	raw := it.Content.Of(r.Body)
	res.Exit = res.Call.Exit(raw)
	h.Results = append(h.Results, res)
	if len(raw) > shortest {
		h.spendEarlier("text "+strconv.FormatUint(maphash.Bytes(h.seed, raw), 36), n, WhySameText)
	}
	if res.Failed() {
		return
	}
	if q := res.Question(); q != "" {
		h.spendEarlier("call "+q, n, WhyReadAgain)
	}
	for _, file := range res.Files {
		if k, ok := h.written[file]; ok && !res.Part {
			h.Results[k].Settled = i
			delete(h.written, file)
		}
		if res.Kind == activity.Write {
			for _, k := range h.showing[file] {
				h.spend(k, i, WhyWritten)
			}
			delete(h.showing, file)
		}
		switch known := h.showing[file]; {
		case len(res.Files) > 1:
		case res.Kind == activity.Write:
			h.written[file] = n
		default:
			h.showing[file] = append(known[max(0, len(known)-mostReadings):], n)
		}
	}
}

// mostReadings is how many results that show one file are watched for a later write: the latest.
const mostReadings = 200

// shortest is the content in bytes below which two equal results are a coincidence.
const shortest = 80

// spendEarlier notes that result n shows the same as the last one with the key.
func (h *History) spendEarlier(key string, n int, why string) {
	if k, ok := h.latest[key]; ok {
		h.spend(k, h.Results[n].Item, why)
	}
	h.latest[key] = n
}

// Why a result is worth nothing any more, as a stub says it.
const (
	WhyReadAgain = "the same was read again later"
	WhySameText  = "the same text came again later"
	WhyWritten   = "what it shows was written later"
)

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

// Failed reports whether the call failed, by its exit code or its client's flag.
func (r *Result) Failed() bool { return r.Call.Failed(r.Exit) }

// State says in a few words how the call ended; empty if nobody tells that.
func (r *Result) State() string { return r.Call.State(r.Exit) }

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
