package ladder

import (
	"bytes"
	"encoding/base64"
	"math"
	"net/http"
	"path"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// Artifacts names the content that is taken out. It stores nothing: the caller puts Plan.Content before it records the
// decision.
type Artifacts interface {
	// Name returns the name of content: the same each time within a scope, another one in another scope.
	Name(scope string, content []byte) string
	// Address returns where a model can read the content of a name; empty if it cannot.
	Address(name string) string
}

// Tool is how texts for a model call epitome's own tool, in words, as each client gives the tool another name.
const Tool = "epitome's tool recall"

// addressOf says to a model where it can read an artifact: by its name with Tool, or at an address; empty if nowhere.
func (s State) addressOf(name string) string {
	if s.ReadsByTool {
		return "artifact " + name
	}
	return s.Artifacts.Address(name)
}

// whereToRead says to a model where an artifact of so many tokens is, and how to read it; 0 tokens are those of a
// picture or a document. what is the text's word for it, as "Transcript". names[0] is the artifact; names[1], if there
// is one, has the same content as the client sent it.
func (s State) whereToRead(what string, names []string, tokens int) string {
	if s.NothingKept {
		return what + ": not kept, because nothing could be stored"
	}
	at := s.addressOf(names[0])
	if at == "" {
		return "Kept as artifact " + names[0] + ", which you cannot read from here"
	}
	where := what + ": " + at
	if tokens > 0 { // else a picture or a document, which nobody reads in parts
		where += s.howToRead(names[0], at, tokens)
	}
	if len(names) > 1 && s.addressOf(names[1]) != "" {
		where += " (as it came, unformatted: " + s.addressOf(names[1]) + ")"
	}
	return where
}

// howToRead says to a model how to read a part of the artifact at an address; empty if it is small enough to be read
// whole.
func (s State) howToRead(name, at string, tokens int) string {
	const readAtOnce, longLine = 2_000, 150 // tokens up to which a model may read an artifact whole; of a line
	switch {
	case s.ReadsByTool && tokens == transcript:
		return "; epitome's tool find looks for a word in all that left this conversation, and recall reads a range"
	case s.ReadsByTool: // the name of an artifact alone does not say where to look
		return "; grep it or read a range with " + Tool
	case strings.HasPrefix(at, "http"):
		return "; fetch it, with ?grep=WORD or ?lines=A-B for a part"
	case tokens <= readAtOnce:
		return ""
	case tokens < transcript && longLine*excerpt.CountLines(string(s.Content[name])) < tokens:
		return "; its lines are long: `epitome artifact " + name + " --grep PATTERN` prints the text around matches"
	}
	return "; grep it or read a range"
}

// transcript stands for the tokens of any transcript: a model is always told to search it.
const transcript = math.MaxInt

// transcriptAt says where the transcript is that has the first of names.
func (s State) transcriptAt(names []string) string {
	return s.whereToRead("Transcript", names[:1], transcript)
}

// KeepTranscript keeps items [first, end) as an artifact, and says where their transcript is.
func (s State) KeepTranscript(first, end int) (names []string, where string) {
	names = s.keepItems(first, end)
	return names, s.transcriptAt(names)
}

// keepContent adds content to s.Content, of which the ladder's caller puts what an edit names, and returns its name.
func (p *Plan) keepContent(content []byte) string {
	name := p.Artifacts.Name(p.Scope, content)
	p.Content[name] = content
	return name
}

// linesCount reports whether the lines of item i stay as they are: those of a file do, which the agent may edit.
func (f *Facts) linesCount(i int) bool {
	return f.Request.Items[i].Role != conversation.Tool || f.callOf[i].Kind == activity.Read
}

// keepText keeps text of item i, which is the JSON string raw unquoted, and returns its names. Where unquoting has
// lost letters, raw is kept in its place (see ContentOfText). JSON that is laid out is kept a second time with line
// breaks, and so is the output that JSON wraps, so that a model can grep it: that name comes first.
func (p *Plan) keepText(i int, raw []byte, text string) []string {
	asSent := p.keepContent(jsonspan.ContentOfText(raw, text))
	if output := jsonspan.Wrapped(text); !output.Empty() {
		quoted := []byte(text[output.Start:output.End])
		content := jsonspan.ContentOfText(quoted, jsonspan.StringOf(quoted))
		return []string{p.keepContent(content), asSent}
	}
	if laidOut, ok := excerpt.LaidOut(text, p.linesCount(i)); ok {
		return []string{p.keepContent([]byte(laidOut)), asSent}
	}
	return []string{asSent}
}

// keepItem keeps the content of item i and returns its names: of one plain text those of keepText, else the text, if
// any, and the JSON of the request: of several parts or Encoded text (JSON to the API) the text says less. The JSON is
// without the pictures and documents, which are files of their own.
func (p *Plan) keepItem(i int) (names, files []string) {
	it := &p.Request.Items[i]
	if len(it.Parts) == 1 && it.Parts[0].Kind == conversation.TextPart && !it.Parts[0].Encoded {
		raw := it.Parts[0].Value.Of(p.Request.Body)
		return p.keepText(i, raw, jsonspan.StringOf(raw)), nil
	}
	var cut []jsonspan.Span
	for _, part := range it.Parts {
		if (part.Kind == conversation.ImagePart || part.Kind == conversation.FilePart) && !part.Value.Empty() {
			files = append(files, p.keepFile(part))
			quoted := jsonspan.Span{Start: part.Value.Start + 1, End: part.Value.End - 1} // what is between the quotes
			cut = append(cut, quoted)
		}
	}
	names = []string{p.keepContent(p.Request.ContentSource(it, cut))}
	if text := p.Request.LinesOf(it); text != "" {
		names = append([]string{p.keepContent([]byte(text))}, names...)
	}
	return names, files
}

// keepFile keeps the bytes of a picture or a document, or its address, and returns the name.
func (p *Plan) keepFile(part conversation.Part) string {
	value := jsonspan.TextOf(part.Value.Of(p.Request.Body))
	content, err := base64.StdEncoding.DecodeString(string(value[bytes.LastIndexByte(value, ',')+1:]))
	if err != nil || part.IsAddress {
		return p.keepContent(value)
	}
	name := p.keepContent(content)
	format := path.Base(http.DetectContentType(content))
	switch format {
	case "png", "jpeg", "gif", "webp", "pdf":
		name += "." + format
		p.Content[name] = content
	}
	return name
}

// keepItems keeps items [first, end) and returns their names: first as a transcript, then as JSON.
func (p *Plan) keepItems(first, end int) []string {
	source := p.keepContent(p.Request.Source(first, end))
	return []string{p.keepContent(summarize.Transcript(p.Request, p.Calls, first, end, source)), source}
}

// KeepAgain keeps all content that a recorded edit may have taken out, so that artifacts that were lost are put again.
func (p *Plan) KeepAgain(e ledger.Edit) {
	if e.Op == ledger.AppendSystem || e.End() > len(p.Request.Items) { // the content is not in this request
		return
	}
	if e.Op == ledger.Drop {
		first, end := e.First, e.End()
		for k := range p.Edits { // drops that were made together share a transcript
			other := &p.Edits[k]
			if slices.Equal(other.Artifacts, e.Artifacts) {
				first, end = min(first, other.First), max(end, other.End())
			}
		}
		p.keepItems(first, end)
		return
	}
	// The content of all other ops: only what e names is put.
	p.keepContent(p.Request.Source(e.First, e.End()))
	p.keepItem(e.First)
	for _, t := range p.textsOf(e.First) {
		p.keepText(e.First, t.raw, t.text)
	}
}

// maxCall is how many characters of a call the text in the place of its result repeats: the call itself stands above.
const maxCall = 100

// stub returns the edit that clears result i. Its text says what was called, how the call ended if not well, how large
// the result is and where it can be read. Unless the result is stale, it quotes the failure of a failed call, or else a
// model's distillate, if there is one.
func (s State) stub(i int) ledger.Edit {
	call := s.callOf[i]
	what := excerpt.OneLine(call.String(), maxCall) + ", " + call.State()
	what = strings.TrimSuffix(what, ", ok") // as most calls end
	done, quotes := s.stubEnd(i)
	return s.clearEdit(i, what, done, quotes)
}

// stubEnd returns how the note of result i's stub ends, and the quotes behind it.
func (s State) stubEnd(i int) (done, quotes string) {
	if s.isStale(i) {
		return " omitted, as a later call repeats it or changed the file", ""
	}
	text := s.Request.LinesOf(&s.Request.Items[i])
	failure := s.callOf[i].Failure(text)
	if failure != "" && 2*len(failure) < len(text) { // else the quote would free little
		return " omitted; failing lines follow", "\n" + excerpt.Quote(failure)
	}
	if said := s.distillate(i); said != "" {
		return " omitted; a model's account of it follows", "\n" + excerpt.Quote(said)
	}
	return " omitted", ""
}

// clearEdit returns the edit that puts one text in the place of all that item i says. The text names what the item was
// and its size, says what was done to it and where to read it, and ends with quotes.
func (s State) clearEdit(i int, what, done, quotes string) ledger.Edit {
	it := &s.Request.Items[i]
	media := s.Request.Media(it)
	names, files := s.keepItem(i)
	isDocument := it.Role == conversation.User && media != "" // the lines may be those of a document
	if s.Request.TextOf(it) != "" && !isDocument {
		lines := excerpt.CountLines(string(s.Content[names[0]])) // of what the model is told to read
		what += ", " + excerpt.Amount(lines)
	}
	if media != "" {
		what += ", " + media
	}
	where := s.whereToRead("Full output", names, it.Size.Text)
	for _, name := range files {
		where += ". " + s.whereToRead("Picture or document", []string{name}, 0)
	}
	text := excerpt.Note(what+done, where) + quotes
	tokens := it.Size.Media
	for k := range it.Parts { // text and other parts are in Size.Text, beside calls and thinking, which stay
		if p := &it.Parts[k]; p.Kind < conversation.ImagePart {
			tokens += s.Request.CountContent(s.Scale, i, p.Value.Of(s.Request.Body))
		}
	}
	return s.edit(ledger.Clear, i, tokens, text, append(names, files...))
}
