package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
)

// maxOffloaded bounds the bytes of results that Offload looks at in one request: the newest first, and at least one.
// The older ones are left to the other steps.
const maxOffloaded = 8 << 20

// offload shortens new results that are over their limit, and new texts of the agent. While artifacts are off, both
// stay whole until the request is over ClearLine, as only then something has to go. Offload then looks at the older
// ones too, which it left whole until now, if older items may be changed (mayDecideOlder).
func (s State) offload() {
	if s.ArtifactsOff && s.Total <= s.Limits.ClearLine {
		return
	}
	from := max(s.Recorded, s.Decision.Restored) // earlier results were looked at when they were new
	if s.ArtifactsOff && s.mayDecideOlder() {
		from = 0
	}
	if s.Binds {
		from = max(from, s.lastThinking()) // an earlier change would cost all thinking behind it
	}
	bytesLeft := maxOffloaded
	var edits []ledger.Edit
	for i := len(s.Request.Items) - 1; i >= from && bytesLeft >= 0; i-- {
		limit, keep, ok := s.limitsAt(i)
		if !ok {
			continue
		}
		content := s.Request.Items[i].Content
		bytesLeft -= content.End - content.Start
		edits = append(edits, s.shorten(i, limit, keep)...)
	}
	s.Add(ledger.StepOffload, event.NoCode, edits...)
}

// limitsAt returns above how many tokens item i is shortened and how many stay; ok is false if it stays as it is. A
// lookup keeps half as many as a command and a file read twice as many, as an agent that reads a file wants the file.
func (s State) limitsAt(i int) (limit, keep int, ok bool) {
	if s.forms[i].shortened {
		return 0, 0, false
	}
	if s.mayReplace(i, conversation.Assistant) { // the agent's own text, unless the model may still continue it
		limit = s.Limits.Replayed
		return limit, limit, limit > 0 && i < s.prefixEnd && len(s.Request.Items[i].Hosted) == 0
	}
	if !s.mayShorten(i) || s.readsBack(i) {
		return 0, 0, false
	}
	call := s.callOf[i]
	limit, keep = s.Limits.Offload, s.Limits.OffloadKeep
	switch call.Kind {
	case activity.Search, activity.Fetch:
		limit, keep = s.Limits.Lookups, s.Limits.OffloadKeep/2
	case activity.Read:
		limit, keep = s.Limits.OffloadReads, 2*s.Limits.OffloadKeep
	}
	own := s.Limits.toolLimit(call.Tool).Tokens
	if own > 0 {
		limit = int(float64(own) / s.Scale.Ratio) // without the bound of the others: a huge number turns cutting off
	}
	keep = min(keep, limit/2) // so that cutting a result takes out about half of it, or more
	if s.isSmall() && own == 0 {
		limit = s.Limits.Floor // no result has more tokens than the body has bytes
	}
	return limit, keep, true
}

// isSmall reports whether the body has so few bytes that it fits in any case: only tools' own limits, that of the
// agent's texts and final screens shorten anything.
func (s State) isSmall() bool {
	return len(s.Request.Body) < s.Limits.Floor && !s.Asked && s.Due() == ""
}

// readsBack reports whether the call of result i names an artifact of this conversation: the model reads what an edit
// took out, and is to get it whole. A result that is too long for this is cut like any other.
func (s State) readsBack(i int) bool {
	const mostTokens = 30_000 // of the result, or a quarter of the window if less
	return s.Size(i, i+1) <= min(mostTokens, s.Limits.Window/4) && s.namesArtifact(i, true)
}

// itemText is one text of an item.
type itemText struct {
	part   int    // its index in Item.Parts
	raw    []byte // the JSON string in the body
	text   string // raw unquoted
	tokens int
}

// textsOf returns the texts of item i that are JSON strings, those of documents among them.
func (f *Facts) textsOf(i int) (texts []itemText) {
	for k := range f.Request.Items[i].Parts {
		p := &f.Request.Items[i].Parts[k]
		raw := p.Value.Of(f.Request.Body)
		if p.Kind < conversation.ImagePart && len(raw) >= 2 && raw[0] == '"' {
			tokens := f.Request.CountContent(f.Scale, i, raw)
			texts = append(texts, itemText{part: k, raw: raw, text: jsonspan.StringOf(raw), tokens: tokens})
		}
	}
	return texts
}

// shorten returns the edits that cut the texts of item i. All texts together may have limit tokens; of more, about keep
// tokens stay. Each text has a share of both numbers by its own tokens.
func (s State) shorten(i, limit, keep int) (edits []ledger.Edit) {
	texts := s.textsOf(i)
	all := 0
	for _, t := range texts {
		all += t.tokens
	}
	for _, t := range texts {
		itsLimit, itsKeep := limit*t.tokens/max(all, 1), keep*t.tokens/max(all, 1)
		e, ok := s.shortenText(i, t, itsLimit, itsKeep)
		if ok {
			edits = append(edits, e)
		}
	}
	return edits
}

// shortenText returns the edit that shortens one text of item i: of a text of the agent the middle is left out,
// terminal output becomes its final screen, and what is still over limit tokens becomes an excerpt of about keep
// tokens. ok is false if the edit would save too little: of a text within its limit, a tenth and leastScreen tokens.
func (s State) shortenText(i int, t itemText, limit, keep int) (e ledger.Edit, ok bool) {
	const leastScreen = 200
	if s.Request.Items[i].Role == conversation.Assistant {
		return s.cutMiddle(i, t, limit)
	}
	output := jsonspan.Wrapped(t.text) // the only part of JSON around it that is cut; mostly empty
	text := t.text
	if !output.Empty() {
		text = jsonspan.StringOf([]byte(t.text[output.Start:output.End]))
	}
	screen, isScreen := excerpt.Screen(text)
	isLong := t.tokens > limit && (!isScreen || s.Scale.CountText(screen) > limit) // as a screen too
	if !isScreen && !isLong {
		return e, false
	}
	names := s.keepText(i, t.raw, t.text)
	short, done, reason := screen, "final screen", event.CodeScreen
	if isLong {
		short, done = s.excerptOf(i, screen, keep, s.Content[names[0]])
		reason = event.CodeOverLimit
		if isScreen {
			done += " from the final screen"
		}
	}
	least := leastSaving
	if t.tokens <= limit {
		least = max(leastScreen, t.tokens/10)
	}
	done = excerpt.OneLine(s.callOf[i].String(), maxCall) + ", " + done
	short = excerpt.Note(done, s.whereToRead("Full output", names, t.tokens)) + "\n" + short
	if !output.Empty() {
		short = t.text[:output.Start] + jsonspan.Quoted(short) + t.text[output.End:]
	}
	e = s.replaceText(i, t, short, names, reason)
	return e, e.Saved >= least
}

// excerptOf returns an excerpt of a text of item i that has about keep tokens, and says what it omits. It tells lines
// by their numbers if kept, which the model can read, has as many: a final screen may have others than the output.
func (s State) excerptOf(i int, text string, keep int, kept []byte) (short, done string) {
	if laidOut, ok := excerpt.LaidOut(text, s.linesCount(i)); ok {
		text = laidOut
	}
	lines := excerpt.CountLines(text)
	short, omitted := excerpt.Lines(text, lines == excerpt.CountLines(string(kept)), keep, s.Scale.CountText)
	done = fmt.Sprintf("%d of %s omitted", omitted, excerpt.Amount(lines))
	if strings.Contains(short, excerpt.Cut) {
		done += ", long lines cut"
	}
	return short, done
}

// replaceText returns the edit that puts text in the place of one text of item i.
func (s State) replaceText(i int, t itemText, text string, names []string, reason event.Code) ledger.Edit {
	e := s.edit(ledger.ReplaceText, i, t.tokens, text, names)
	e.Part, e.Reason = t.part, reason
	return e
}

// cutMiddle returns the edit that leaves out the middle of one text of item i, so that limit tokens stay of it, with
// the note. Where the note alone takes more, limit bytes stay of each end. ok is false if that saves too little.
func (s State) cutMiddle(i int, t itemText, limit int) (e ledger.Edit, ok bool) {
	if t.tokens <= limit {
		return e, false
	}
	names := s.keepText(i, t.raw, t.text)
	where := s.whereToRead("Full text", names, t.tokens)
	for size := limit * len(t.text) / t.tokens / 2; ; size = size * 3 / 4 { // bytes of each end
		first := strings.ToValidUTF8(t.text[:size], "")
		last := strings.ToValidUTF8(t.text[len(t.text)-size:], "")
		done := fmt.Sprintf("%d bytes of this text omitted", len(t.text)-len(first)-len(last))
		e = s.replaceText(i, t, first+"\n"+excerpt.Note(done, where)+"\n"+last, names, event.CodeReplayed)
		if e.Tokens <= limit || size <= limit {
			return e, e.Saved >= leastSaving
		}
	}
}

// picture is a part of an item.
type picture struct {
	item, part int
	*conversation.Part
}

// pictures returns the pictures of the user and of results that are sent and can be left out, the oldest first.
func (s State) pictures() (list []picture) {
	for i := range s.Request.Items {
		it := &s.Request.Items[i]
		if it.Content.Empty() || !s.mayReplace(i, conversation.User) && !s.mayReplace(i, conversation.Tool) {
			continue
		}
		for k := range it.Parts {
			p := &it.Parts[k]
			isOut := func(e ledger.Edit) bool { return e.Op == ledger.ReplaceText && e.First == i && e.Part == k }
			if p.Kind == conversation.ImagePart && !p.Empty() && !slices.ContainsFunc(s.Edits, isOut) {
				list = append(list, picture{i, k, p})
			}
		}
	}
	return list
}

// leaveOldPictures leaves out the oldest pictures once the request has 80 % of what the API takes, or of the number
// that was refused: down to half of that, as each change costs the provider's cache. Those that the model has not seen
// stay.
func (s State) leaveOldPictures() {
	api := s.Request.Dialect.API()
	most := min(api.MaxPictures, cmp.Or(s.Decision.Pictures, api.MaxPictures))
	list := s.pictures()
	sent := 0 // bytes
	for _, p := range list {
		sent += len(p.Value.Of(s.Request.Body))
	}
	if 5*len(list) <= 4*most && 5*sent <= 4*api.MaxImageBytes {
		return
	}
	out := 0 // pictures
	for _, p := range list {
		isEnough := 2*(len(list)-out) <= most && 2*sent <= api.MaxImageBytes
		if isEnough || p.item >= s.prefixEnd || s.mustShow(p.item) {
			break
		}
		sent -= len(p.Value.Of(s.Request.Body))
		out++
	}
	s.leavePictures(list[:out])
}

// RescuePictures leaves out pictures of a request that was refused for them, with each try more: those that are too
// large by themselves, or else the oldest half; then all but the newest; then all. When all are out, nothing changes.
func (s State) RescuePictures(try int) {
	list := s.pictures()
	n := len(list)
	side := 8000 // pixels that Anthropic takes
	if n > 20 {
		side = 2000
	}
	first := slices.DeleteFunc(slices.Clone(list), func(p picture) bool {
		value := p.Value.Of(s.Request.Body)
		_, width, height := tokenize.PictureSize(jsonspan.TextOf(value))
		return len(value)/4*3 <= 5<<20 && max(width, height) <= side
	})
	if len(first) == 0 {
		s.Decision.Pictures = n
		first = list[:(n+1)/2]
	}
	out := [][]picture{first, list[:max(n-1, len(first))], list}
	out = slices.CompactFunc(out, func(a, b []picture) bool { return len(a) == len(b) }) // else a request comes again
	if try <= len(out) {
		s.leavePictures(out[try-1])
	}
}

// leavePictures puts notes in the places of pictures, which say where the pictures are.
func (s State) leavePictures(list []picture) {
	var edits []ledger.Edit
	for _, p := range list {
		value := jsonspan.TextOf(p.Value.Of(s.Request.Body))
		names := []string{s.keepFile(*p.Part)}
		its, what := "Its address", "picture at "+excerpt.OneLine(string(value), 300)
		if !p.IsAddress {
			format, width, height := tokenize.PictureSize(value)
			its, what = "Its bytes", fmt.Sprintf("picture (%s, %d x %d pixels, %d bytes)",
				cmp.Or(format, "format unknown"), width, height, len(s.Content[names[0]]))
		}
		note := excerpt.Note(what+" left out", s.whereToRead(its, names, 0))
		t := itemText{part: p.part, tokens: s.Scale.CountMedia(*p.Part, s.Request.Body)}
		edits = append(edits, s.replaceText(p.item, t, note, names, event.CodePictures))
	}
	s.Add(ledger.StepClear, event.CodePictures, edits...)
}
