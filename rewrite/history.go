package rewrite

import (
	"bytes"
	"hash/maphash"
	"iter"
	"path"
	"slices"
)

// history is what is known of a conversation's items behind the head, in order: item i is Items[Head+i] of the request.
// It grows with them, and what was read once is not read again. It does not keep the body.
type history struct {
	seed    maphash.Seed
	chain   []Link // chain[i] names the first i items
	sizes   []int  // tokens of each item as it came
	media   []int  // of them, those of images, sound and documents
	groups  []int  // assistant's messages up to and with the item
	size    Size   // of all items together
	results []result
	at      []int // of each item, its result's index; -1 for what is none

	short   map[int]int         // tokens of an assistant's item without long arguments, once that was asked for
	calls   map[string][]origin // of the last assistant's message, by id
	reading map[string][]int    // results of file reads that are not spent, by the file's last name
	asked   map[string]int      // result of the latest read that asked for the very same
	said    map[uint64]int      // latest result with this content
	lines   *lineIndex          // of results that are sent whole
	lined   int                 // results that lines has been given, or that were not whole
}

// origin is the call that a result answers.
type origin struct {
	name  string
	deed  deed
	cites []string // what in its arguments looks like an artifact's name
}

// result is a tool's result.
type result struct {
	origin
	item  int      // behind the head
	left  []string // of the files it shows, those that were not written since
	spent int      // the item that made it worthless; 0 if none did
	why   string

	failed bool // it says that its call did nothing

	brief   string // the most frequent names in it, once they were asked for
	names   string // in it, once they were asked for
	stubbed int    // tokens of the item when cleared, once that was asked for; 0 before
}

func newHistory() *history {
	return &history{
		seed: maphash.MakeSeed(), short: map[int]int{}, calls: map[string][]origin{}, reading: map[string][]int{},
		asked: map[string]int{}, said: map[uint64]int{}, lines: newLines(),
	}
}

// len is how many items are known.
func (h *history) len() int { return len(h.sizes) }

// extend reads the request's items that are not known yet.
func (h *history) extend(r *Request, s Scale) {
	r.opaqueFrom(r.Head + h.len())
	h.chain = r.chainFrom(h.chain)
	group := 0
	if n := h.len(); n > 0 {
		group = h.groups[n-1]
	}
	for i := h.len(); i < len(r.Items)-r.Head; i++ {
		it := &r.Items[r.Head+i]
		if it.Begins {
			group++
		}
		if it.Role == Assistant {
			h.callsOf(r, it)
		}
		n, media := r.countItem(s, it, r.besideOthers(r.Head+i))
		h.size.add(it.Role, n, media)
		h.sizes, h.media, h.groups = append(h.sizes, n+media), append(h.media, media), append(h.groups, group)
		h.at = append(h.at, -1)
		if it.Role == Tool {
			h.at[i] = len(h.results)
			h.answer(r, it, i)
		}
	}
}

func (h *history) callsOf(r *Request, it *Item) {
	clear(h.calls)
	for _, c := range it.Calls {
		text := said(c.Arguments.Of(r.Body))
		id := c.ID
		h.calls[id] = append(h.calls[id], origin{c.Name, deedOf(c.Name, text, c.FreeText), cites(text)})
	}
}

// called is the call of that id. Calls that share one are answered in their order.
func (h *history) called(id string) (c origin) {
	if all := h.calls[id]; len(all) > 0 {
		c = all[0]
		if len(all) > 1 {
			h.calls[id] = all[1:]
		}
	}
	return c
}

// answer takes a result in, and notes which earlier ones it makes worthless.
func (h *history) answer(r *Request, it *Item, i int) {
	res := result{item: i, origin: h.called(it.Answers)}
	if res.name == "" {
		res.name = it.Name
	}
	n := len(h.results)
	h.results = append(h.results, res)
	raw := it.Content.Of(r.Body)
	h.repeated(raw, n)
	if failed(raw) {
		h.results[n].failed = true
		return
	}
	d := &h.results[n].deed
	for _, file := range d.writes {
		h.written(file, i)
	}
	if len(d.reads) == 0 || len(d.writes) > 0 {
		return
	}
	if d.again != "" {
		if k, ok := h.asked[d.again]; ok {
			h.spend(k, i, "the same was read again later")
		}
		h.asked[d.again] = n
	}
	if d.only {
		h.shows(n)
	}
}

// shows notes which files a result shows and nothing else.
func (h *history) shows(n int) {
	res := &h.results[n]
	res.left = slices.Clone(res.deed.reads)
	for _, file := range res.left {
		base := path.Base(file)
		if known := h.reading[base]; len(known) >= mostReadings {
			h.reading[base] = known[1:]
		}
		h.reading[base] = append(h.reading[base], n)
	}
}

// mostReadings is how many results that show files of one last name are watched for a later write: the latest.
const mostReadings = 200

// shortest is the content in bytes below which two equal results are a coincidence.
const shortest = 80

func (h *history) repeated(raw []byte, n int) {
	if len(raw) <= shortest {
		return
	}
	sum := maphash.Bytes(h.seed, raw)
	if k, ok := h.said[sum]; ok {
		h.spend(k, h.results[n].item, "the same text came again later")
	}
	h.said[sum] = n
}

// written notes that a file was changed by the call whose result is item i. What showed it and nothing else is out of date.
func (h *history) written(file string, i int) {
	base := path.Base(file)
	h.reading[base] = slices.DeleteFunc(h.reading[base], func(k int) bool {
		res := &h.results[k]
		before := len(res.left)
		res.left = slices.DeleteFunc(res.left, func(f string) bool { return sameFile(f, file) })
		if len(res.left) == 0 {
			h.spend(k, i, "what it shows was written later")
		}
		return len(res.left) < before
	})
}

func (h *history) spend(k, by int, why string) {
	if res := &h.results[k]; res.spent == 0 {
		res.spent, res.why = by, why
	}
}

// forgetLines is for when it is no longer known which results are sent whole.
func (h *history) forgetLines() { h.lines, h.lined = newLines(), 0 }

// cut forgets all items from n on. There must be no assistant's or tool's among them.
func (h *history) cut(r *Request, n int) {
	for i := n; i < h.len(); i++ {
		h.size.add(r.Items[r.Head+i].Role, h.media[i]-h.sizes[i], -h.media[i])
	}
	h.chain, h.sizes, h.media, h.groups, h.at = h.chain[:n+1], h.sizes[:n], h.media[:n], h.groups[:n], h.at[:n]
}

// failed reports whether a result, as it stands in the body, says that its call did nothing.
func failed(raw []byte) bool {
	const short = 4_000 // bytes; a longer one is no mere complaint
	if len(raw) > short {
		return false
	}
	text := bytes.TrimLeft(raw, "\"[{ \n")
	for _, word := range []string{"error", "<tool_use_error", "failed", "exception", "traceback"} {
		n := len(word)
		if len(text) >= n && bytes.EqualFold(text[:n], []byte(word)) && (len(text) == n || !partOfName(text[n])) {
			return true
		}
	}
	return false
}

// partOfName reports whether a byte goes on with a name.
func partOfName(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// stable is how many items there are up to the last that is an assistant's or a tool's: what comes behind may be a
// reminder that the client moves each turn.
func (r *Request) stable() int {
	n := len(r.Items) - r.Head
	for n > 0 && r.Items[r.Head+n-1].Role != Assistant && r.Items[r.Head+n-1].Role != Tool {
		n--
	}
	return n
}

// nameLength is how many characters of a to z and 2 to 7 an artifact's name has.
const nameLength = 26

// cites are the words of a text that may be names of artifacts.
func cites(text []byte) []string { return slices.Collect(namesLike(string(text))) }

// namesLike gives each word of the text that may be the name of an artifact.
func namesLike(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '2' && text[i] <= '7') {
				continue
			}
			if i-start == nameLength && !yield(text[start:i]) {
				return
			}
			start = i + 1
		}
	}
}
