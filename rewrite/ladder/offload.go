package ladder

import (
	"fmt"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
	"epitome/rewrite/view"
)

// maxOffloaded bounds the bytes of results that Offload looks at in one request: the newest first, and at least one.
// The older ones are left to the other steps.
const maxOffloaded = 8 << 20

// offload shortens new results that are over their limit, and new texts of the agent. While artifacts are off, both
// stay whole until the request is over ClearLine, as only then something has to go. Offload then looks at the older
// ones too, which it left whole until now, if older items may be changed (mayDecideOlder).
func (k *Known) offload(p *Plan) {
	if k.Artifacts.Scarce && p.View.Total <= k.Limits.ClearLine {
		return
	}
	from := max(k.Recorded, k.Before.Restored) // earlier results were looked at when they were new
	if k.Artifacts.Scarce && k.mayDecideOlder() {
		from = 0
	}
	if k.Binds {
		from = max(from, lastThinking(&p.View)) // an earlier change would cost all thinking behind it
	}
	bytesLeft := maxOffloaded
	var edits []view.Edit
	for i := len(k.Request.Items) - 1; i >= from && bytesLeft >= 0; i-- {
		limit, keep, ok := k.limitsAt(p, i)
		if !ok {
			continue
		}
		content := k.Request.Items[i].Content
		bytesLeft -= content.End - content.Start
		edits = append(edits, k.shorten(i, limit, keep)...)
	}
	p.View = k.with(p.View, view.StepOffload, event.NoCode, edits...)
}

// limitsAt returns above how many tokens item i is shortened and how many stay; ok is false if it stays as it is. A
// lookup keeps half as many as a command and a file read twice as many, as an agent that reads a file wants the file.
func (k *Known) limitsAt(p *Plan, i int) (limit, keep int, ok bool) {
	v := &p.View
	if v.Forms[i].Shortened {
		return 0, 0, false
	}
	if k.mayReplace(v, i, conversation.Assistant) { // the agent's own text, unless the model may still continue it
		limit = k.Limits.Replayed
		return limit, max(limit/2, limit-stubTokens), limit > 0 && i < k.prefixEnd && len(k.Request.Items[i].Hosted) == 0
	}
	if !k.mayReplace(v, i, conversation.Tool) || k.readsBack(v, i) {
		return 0, 0, false
	}
	call := k.CallOf[i]
	limit, keep = k.Limits.Offload, k.Limits.OffloadKeep
	switch call.Kind {
	case activity.Search, activity.Fetch:
		limit, keep = k.Limits.Lookups, k.Limits.OffloadKeep/2
	case activity.Read:
		limit, keep = k.Limits.OffloadReads, 2*k.Limits.OffloadKeep
	}
	own := k.Limits.toolLimit(call.Tool).Tokens
	if own > 0 {
		limit = int(float64(own) / k.Scale.Ratio) // without the bound of the others: a huge number turns cutting off
	}
	keep = min(keep, limit/2) // so that cutting a result takes out about half of it, or more
	if k.isSmall(p) && own == 0 {
		limit = k.Limits.Floor // no result has more tokens than the body has bytes
	}
	return limit, keep, true
}

// isSmall reports whether the body has so few bytes that it fits in any case: only tools' own limits, that of the
// agent's texts and final screens shorten anything.
func (k *Known) isSmall(p *Plan) bool {
	if len(k.Request.Body) >= k.Limits.Floor || k.Demand.Asked {
		return false
	}
	b := k.Budget(p)
	return !b.HasRoom()
}

// readsBack reports whether the call of result i names an artifact of this conversation: the model reads what an edit
// took out, and is to get it whole. A result that is too long for this is cut like any other.
func (k *Known) readsBack(v *view.View, i int) bool {
	const mostTokens = 30_000 // of the result, or a quarter of the window if less
	return k.Size(i, i+1) <= min(mostTokens, k.Limits.Window/4) && k.namesArtifact(v, i, true)
}

// itemText is one text of an item.
type itemText struct {
	part   int    // its index in Item.Parts
	raw    []byte // the JSON string in the body
	text   string // raw unquoted
	tokens int
}

// textsOf returns the texts of item i that are JSON strings, those of documents among them.
func (k *Known) textsOf(i int) (texts []itemText) {
	for part := range k.Request.Items[i].Parts {
		p := &k.Request.Items[i].Parts[part]
		raw := p.Value.Of(k.Request.Body)
		if p.Kind < conversation.ImagePart && len(raw) >= 2 && raw[0] == '"' {
			tokens := k.Request.CountContent(k.Scale, i, raw)
			texts = append(texts, itemText{part: part, raw: raw, text: jsonspan.StringOf(raw), tokens: tokens})
		}
	}
	return texts
}

// shorten returns the edits that cut the texts of item i. All texts together may have limit tokens; of more, about keep
// tokens stay. Each text has a share of both numbers by its own tokens.
func (k *Known) shorten(i, limit, keep int) (edits []view.Edit) {
	texts := k.textsOf(i)
	all := 0
	for _, t := range texts {
		all += t.tokens
	}
	for _, t := range texts {
		itsLimit, itsKeep := limit*t.tokens/max(all, 1), keep*t.tokens/max(all, 1)
		e, ok := k.shortenText(i, t, itsLimit, itsKeep)
		if ok {
			edits = append(edits, e)
		}
	}
	return edits
}

// shortenText returns the edit that shortens one text of item i: terminal output becomes its final screen, and what is
// still over limit tokens an excerpt of about keep tokens. ok is false if the edit would save too little: of a text
// within its limit, a tenth and leastScreen tokens.
func (k *Known) shortenText(i int, t itemText, limit, keep int) (e view.Edit, ok bool) {
	const leastScreen = 200
	what, where, over := excerpt.OneLine(k.CallOf[i].String(), maxCall), "Full output", event.CodeOverLimit
	isAgents := k.Request.Items[i].Role == conversation.Assistant
	if isAgents {
		what, where, over = "this text", "Full text", event.CodeReplayed
	}
	output := jsonspan.Wrapped(t.text) // the only part of JSON around it that is cut; mostly empty
	text := t.text
	if !output.Empty() {
		text = jsonspan.StringOf([]byte(t.text[output.Start:output.End]))
	}
	screen, isScreen := excerpt.Screen(text)
	isLong := t.tokens > limit && (!isScreen || k.Scale.CountText(screen) > limit) // as a screen too
	if !isLong && (!isScreen || isAgents) {
		return e, false
	}
	names := k.keepText(i, t.raw)
	short, done, reason := screen, "final screen", event.CodeScreen
	if isLong {
		short, done = k.excerptOf(i, screen, keep, k.Artifacts.Content[names[0]])
		reason = over
		if isScreen {
			done += " from the final screen"
		}
	}
	least := leastSaving
	if t.tokens <= limit {
		least = max(leastScreen, t.tokens/10)
	}
	short = excerpt.Note(what+", "+done, k.whereToRead(where, names, t.tokens)) + "\n" + short
	if !output.Empty() {
		short = t.text[:output.Start] + jsonspan.Quoted(short) + t.text[output.End:]
	}
	e = k.replaceText(i, t, short, names, reason)
	return e, e.Saved >= least
}

// excerptOf returns an excerpt of a text of item i that has about keep tokens, and says what it omits. It tells lines
// by their numbers if kept, which the model can read, has as many: a final screen may have others than the output.
func (k *Known) excerptOf(i int, text string, keep int, kept []byte) (short, done string) {
	if laidOut, ok := excerpt.LaidOut(text, k.linesCount(i)); ok {
		text = laidOut
	}
	lines := excerpt.CountLines(text)
	short, omitted := excerpt.Lines(text, lines == excerpt.CountLines(string(kept)), keep, k.Scale.CountText)
	done = fmt.Sprintf("%d of %s omitted", omitted, excerpt.Amount(lines))
	if strings.Contains(short, excerpt.Cut) {
		done += ", long lines cut"
	}
	return short, done
}

// replaceText returns the edit that puts text in the place of one text of item i.
func (k *Known) replaceText(i int, t itemText, text string, names []string, reason event.Code) view.Edit {
	e := k.edit(view.ReplaceText, i, t.tokens, text, names)
	e.Part, e.Reason = t.part, reason
	return e
}
