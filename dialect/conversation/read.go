package conversation

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/internal/jsonspan"
)

// MaxItems bounds the items of a request, far above the number that agents reach: to read a new one takes 4 KB and some
// microseconds, and 600 bytes are kept of it. Larger requests are not shortened.
const MaxItems = 100_000

// maxCommas bounds the JSON values of a body, because reading each takes a microsecond or more, however short it is.
// The requests of agents have far fewer. Commas in texts do not count.
const maxCommas = 700_000

// Read parses a body in one pass. known, if not nil, is an earlier request of the same conversation: items in the
// common prefix of both lists are copied from it. Read reads the keys that all APIs share, and leaves all else to d.
// An error says why the body must not be edited, and as it is logged, quotes nothing of the body.
func Read(d Dialect, body []byte, known *Request) (*Request, error) {
	// Nearly all bodies have so few commas that those in texts need not be told apart.
	if bytes.Count(body, []byte(",")) > maxCommas && jsonspan.Commas(body) > maxCommas {
		return nil, fmt.Errorf("the request has more than %d commas outside of texts", maxCommas)
	}
	r := &Request{Dialect: d, Body: body}
	listKey := d.API().List
	err := jsonspan.Document(body, func(key []byte, start int) (end int, err error) {
		if string(key) == listKey && body[start] == '[' {
			return r.readList(known, start)
		}
		return r.readMember(key, start)
	})
	switch {
	case err != nil:
		return nil, err
	case r.List == 0 && len(r.Items) == 0:
		return nil, errors.New("the body has no list of " + listKey)
	case len(r.Items) > MaxItems:
		return nil, fmt.Errorf("the request has more than %d items", MaxItems)
	}
	r.numberItems()
	r.findHead()
	r.checkLast()
	r.Unpriced = r.Unpriced || slices.ContainsFunc(r.Items, isUnpriced)
	return r, nil
}

// readMember reads a member of the body whose value begins at Body[start], and returns the index behind the value.
func (r *Request) readMember(key []byte, start int) (end int, err error) {
	end, err = jsonspan.EndOfValue(r.Body, start)
	if err != nil {
		return 0, err
	}
	v := jsonspan.Span{Start: start, End: end}
	if string(v.Of(r.Body)) == "null" {
		return end, nil
	}
	switch string(key) {
	case "model":
		r.Model = gjson.ParseBytes(v.Of(r.Body)).Str
	case "stream":
		r.Stream = string(v.Of(r.Body)) == "true"
	case "tools":
		r.Tools = v
	case "tool_choice", "reasoning", "reasoning_effort": // the provider's cache depends on them
		r.Settings = append(r.Settings, v)
	case "cache_control", "prompt_cache_retention", "prompt_cache_options":
		r.Caching = v
	case answer.UsualCap, answer.OtherCap, answer.ResponsesCap:
		r.MaxOutput = max(r.MaxOutput, int(gjson.ParseBytes(v.Of(r.Body)).Int()))
	default:
		err = r.Dialect.ReadSetting(r, key, v)
	}
	return end, err
}

// isUnpriced reports whether the model may see more of an item than its JSON.
func isUnpriced(it Item) bool {
	isOther := func(p Part) bool { return p.Kind == OtherPart || p.Kind == DocumentPart }
	return it.Role == Unknown || slices.ContainsFunc(it.Parts, isOther)
}

// Grown returns the bodies of the requests that a client sent while the conversation grew: one wherever the model
// answered, and at last r.Body. Each comes with the place in r.Body where its items end.
func (r *Request) Grown() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := max(r.Lead, 1); i < len(r.Items); i++ {
			if r.Items[i].Role != Assistant || r.Items[i-1].Role == Assistant {
				continue
			}
			later := jsonspan.Span{Start: r.Items[i-1].MessageSpan().End, End: r.Items[len(r.Items)-1].MessageSpan().End}
			body, err := jsonspan.Splice(r.Body, []jsonspan.Edit{{Span: later}}, nil)
			if err == nil && !yield(later.Start, body) {
				return
			}
		}
		yield(len(r.Body), r.Body)
	}
}

// numberItems gives each item the number of its message: items with the same Message share one.
func (r *Request) numberItems() {
	n, message := 0, jsonspan.Span{}
	for i := range r.Items {
		it := &r.Items[i]
		if it.Message.Empty() || it.Message != message {
			n++
		}
		it.Number, message = n, it.Message
	}
}

// readList reads the list that begins at Body[start] and returns the index behind it. Its elements must be objects.
func (r *Request) readList(known *Request, start int) (end int, err error) {
	r.List = start + 1
	readEntry := func(o *jsonspan.Object) error { return r.Dialect.ReadEntry(r, o) }
	end, err = jsonspan.Objects(r.Body, r.reuse(known), readEntry)
	if err != nil {
		err = fmt.Errorf("cannot read item %d: %w", len(r.Items), err)
	}
	return end, err
}

// ReadContent reads the content v of a message or a result: a string becomes one text part of the item; of a list it
// calls add with each element, which must be an object. An item with any other content is locked.
func (r *Request) ReadContent(it *Item, v jsonspan.Span, add func(*Request, *Item, *jsonspan.Object)) (err error) {
	it.Content = v
	if v.Empty() {
		return nil
	}
	switch r.Body[v.Start] {
	case '"':
		it.Parts = []Part{{Span: v, Kind: TextPart, Value: v}}
	case '[':
		_, err = jsonspan.Objects(r.Body, v.Start+1, func(part *jsonspan.Object) error {
			add(r, it, part)
			return nil
		})
	default: // no content that an API takes
		it.Content = jsonspan.Span{}
		it.Locked = true
	}
	return err
}

// AddMark adds the cache mark that an object has under a key, if it has one.
func (it *Item) AddMark(o *jsonspan.Object, key string) {
	if !o.Find(key).Empty() {
		it.Marks = append(it.Marks, o.Member(key))
	}
}

// AddPart adds an element of an item's content, as OpenAI's APIs have them. One of no known kind, or without its value,
// is counted as it is written.
func AddPart(r *Request, it *Item, o *jsonspan.Object) {
	p := Part{Span: o.Span}
	typeName, text, picture := o.Text("type"), o.Find("text", "refusal"), o.Find("image_url")
	audio, file := o.In("input_audio"), o.In("file")
	if typeName == "input_file" {
		file = o
	}
	switch {
	case jsonspan.IsText(r.Body, text):
		p.Kind, p.Value = TextPart, text
	case !picture.Empty(), typeName == "input_image", typeName == "computer_screenshot":
		image := o.In("image_url") // has no keys where the value is a string
		p.Kind, p.Value = ImagePart, cmp.Or(image.Value("url"), picture, o.Find("file_id"))
		p.Detail = cmp.Or(image.Value("detail"), o.Value("detail"))
		p.IsAddress = !bytes.HasPrefix(p.Value.Of(r.Body), []byte(`"data:`))
	case !audio.Empty():
		p.Kind, p.Value = AudioPart, audio.Value("data")
	case !file.Empty():
		p.Kind, p.Value, p.Title = FilePart, file.Find("file_data", "file_url", "file_id"), file.Find("filename")
		p.IsAddress = file.Find("file_data").Empty()
	}
	if !jsonspan.IsText(r.Body, p.Value) {
		p = Part{Span: o.Span, Value: o.Span}
	}
	it.Parts = append(it.Parts, p)
}

// findHead sets Lead and Head. The head ends before the first answer or result, or before the first behind the
// provider's last summary (a Compaction). It is kept because the user's first words, or that summary, state the task.
// With such a summary findHead also sets Upkeep: the provider will make the next one as well.
func (r *Request) findHead() {
	for r.Lead < len(r.Items) && r.Items[r.Lead].Role == System {
		r.Lead++
	}
	r.Head = r.Lead
	for i := range r.Items {
		if r.Items[i].Compaction {
			r.Head = i + 1
			r.Upkeep = max(r.Upkeep, ProviderClears)
		}
	}
	for r.Head < len(r.Items) && !r.Items[r.Head].isAnswerOrResult() {
		r.Head++
	}
}

// reuse copies the items of known whose bytes are the same in r's list, up to the last answer that both have. It
// returns the index in Body where this answer begins; it is read again, as in r its item may have more entries. Nothing
// is copied if the lists begin at different indices, because the items' spans would be wrong.
func (r *Request) reuse(known *Request) (next int) {
	r.Items, r.Reused = nil, 0
	if known == nil || known.List != r.List {
		return r.List
	}
	commonEnd := r.List + CommonPrefix(known.Body[r.List:], r.Body[r.List:])
	for i := len(known.Items) - 1; i > 0; i-- { // before item 0 there is nothing to copy
		it := &known.Items[i]
		if it.StartsAnswer && it.MessageSpan().End < commonEnd { // both lists have all of its item
			r.Items = append(make([]Item, 0, len(known.Items)+8), known.Items[:i]...) // with room for the items of a turn
			r.Reused, r.chain = i, known.Chain()[:i+1]
			return it.MessageSpan().Start
		}
	}
	return r.List
}

// TakeOver moves r.Body to the memory of the request from which r's Reused items are. Only the rest is copied. That
// request must not be used any more. It does nothing, and returns false, if that is much, or there is no room for it.
func (r *Request) TakeOver(known *Request) bool {
	const most = 1 << 20 // bytes
	same := 0            // bytes at the start that need no copy, but for those before the list
	if r.Reused > 0 {
		same = r.Items[r.Reused-1].MessageSpan().End
	}
	first := min(r.List, same)
	if first+len(r.Body)-same > most || len(r.Body) > cap(known.Body) {
		return false
	}
	body := append(known.Body[:same], r.Body[same:]...)
	copy(body, r.Body[:first])
	r.Body = body
	return true
}

// CommonPrefix returns how many bytes at their start a and b have in common.
func CommonPrefix(a, b []byte) int {
	const block = 4096 // bytes compared at once, which is faster than byte by byte
	i, n := 0, min(len(a), len(b))
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// checkLast sets AnswerGoesOn, and Upkeep for a client's own summary, by the last item that is not the system's.
func (r *Request) checkLast() {
	last := len(r.Items) - 1
	for last >= 0 && r.Items[last].Role == System { // such as reminders, which neither ask nor answer
		last--
	}
	if last < 0 {
		return
	}
	it := &r.Items[last]
	r.AnswerGoesOn = it.Role == Assistant && last >= r.Head // an answer in the head holds the provider's summary
	if len(it.Parts) == 0 || it.Role != User {
		return
	}
	newest := it.Parts[len(it.Parts)-1].Value
	if summaryRequest.Match(newest.Of(r.Body)) {
		r.Upkeep = ClientSummarizes
	}
}
