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
	"epitome/rewrite/view"
	"epitome/summarize"
)

// Namer names the content that is taken out.
type Namer interface {
	// Name returns the name of content: the same each time within a scope, another one in another scope.
	Name(scope string, content []byte) string
	// Address returns where a model can read the content of a name; empty if it cannot.
	Address(name string) string
}

// Artifacts are where the content goes that is taken out. The ladder stores nothing: its caller puts Content before it
// records the decision, as far as edits name it.
type Artifacts struct {
	Namer
	Scope   string            // in which artifacts are named
	ByTool  bool              // the model reads artifacts with epitome's own tool, not by their addresses
	Scarce  bool              // they are not to be had, or edits were refused: results stay whole up to ClearLine
	Nowhere bool              // no content can be stored: edits name no artifacts, and their texts say so
	Content map[string][]byte // by name: what new edits take out, or recorded ones whose artifacts are lost
}

// addressOf says to a model where it can read an artifact: by its name with a tool, or at an address; empty if nowhere.
func (k *Known) addressOf(name string) string {
	if k.Artifacts.ByTool {
		return "artifact " + name
	}
	return k.Artifacts.Address(name)
}

// whereToRead says to a model where an artifact of so many tokens is, and how to read it; 0 tokens are those of a
// picture or a document. what is the text's word for it, as "Transcript". names[0] is the artifact; names[1], if there
// is one, has the same content as the client sent it.
func (k *Known) whereToRead(what string, names []string, tokens int) string {
	if k.Artifacts.Nowhere {
		return what + ": not kept, because nothing could be stored"
	}
	at := k.addressOf(names[0])
	if at == "" {
		return "Kept as artifact " + names[0] + ", which you cannot read from here"
	}
	where := what + ": " + at
	if tokens > 0 { // else a picture or a document, which nobody reads in parts
		where += k.howToRead(names[0], at, tokens)
	}
	if len(names) > 1 && k.addressOf(names[1]) != "" {
		where += " (as it came, unformatted: " + k.addressOf(names[1]) + ")"
	}
	return where
}

// howToRead says to a model how to read a part of the artifact at an address; empty if it is small enough to be read
// whole.
func (k *Known) howToRead(name, at string, tokens int) string {
	const readAtOnce, longLine = 2_000, 150 // tokens up to which a model may read an artifact whole; of a line
	switch {
	case k.Artifacts.ByTool && tokens == transcript:
		return "; epitome's tool find looks for a word in all that left this conversation, and recall reads a range"
	case k.Artifacts.ByTool: // the name of an artifact alone does not say where to look
		return "; grep it or read a range with epitome's tool recall"
	case strings.HasPrefix(at, "http"):
		return "; fetch it, with ?grep=WORD or ?lines=A-B for a part"
	case tokens <= readAtOnce:
		return ""
	case tokens < transcript && longLine*excerpt.CountLines(string(k.Artifacts.Content[name])) < tokens:
		return "; its lines are long: `epitome artifact " + name + " --grep PATTERN` prints the text around matches"
	}
	return "; grep it or read a range"
}

// transcript stands for the tokens of any transcript: a model is always told to search it.
const transcript = math.MaxInt

// TranscriptAt says where the transcript is that has the first of names.
func (k *Known) TranscriptAt(names []string) string {
	return k.whereToRead("Transcript", names[:1], transcript)
}

// keepContent adds content to the artifacts, and returns its name.
func (k *Known) keepContent(content []byte) string {
	name := k.Artifacts.Name(k.Artifacts.Scope, content)
	k.Artifacts.Content[name] = content
	return name
}

// linesCount reports whether the lines of item i stay as they are: those of a file do, which the agent may edit.
func (k *Known) linesCount(i int) bool {
	return k.Request.Items[i].Role != conversation.Tool || k.CallOf[i].Kind == activity.Read
}

// keepText keeps a text of item i, which is the JSON string raw, and returns its names. Where unquoting loses letters,
// raw is kept in its place (see ContentOfText). JSON that is laid out is kept a second time with line breaks, and so is
// the output that JSON wraps, so that a model can grep it: that name comes first.
func (k *Known) keepText(i int, raw []byte) []string {
	text := jsonspan.StringOf(raw)
	asSent := k.keepContent(jsonspan.ContentOfText(raw, text))
	if output := jsonspan.Wrapped(text); !output.Empty() {
		quoted := []byte(text[output.Start:output.End])
		content := jsonspan.ContentOfText(quoted, jsonspan.StringOf(quoted))
		return []string{k.keepContent(content), asSent}
	}
	if laidOut, ok := excerpt.LaidOut(text, k.linesCount(i)); ok {
		return []string{k.keepContent([]byte(laidOut)), asSent}
	}
	return []string{asSent}
}

// keepItem keeps the content of item i and returns its names: of one plain text those of keepText, else the text, if
// any, and the JSON of the request: of several parts or Encoded text (JSON to the API) the text says less. The JSON is
// without the pictures and documents, which are files of their own.
func (k *Known) keepItem(i int) (names, files []string) {
	it := &k.Request.Items[i]
	if len(it.Parts) == 1 && it.Parts[0].Kind == conversation.TextPart && !it.Parts[0].Encoded {
		return k.keepText(i, it.Parts[0].Value.Of(k.Request.Body)), nil
	}
	var cut []jsonspan.Span
	for _, part := range it.Parts {
		if (part.Kind == conversation.ImagePart || part.Kind == conversation.FilePart) && !part.Value.Empty() {
			files = append(files, k.keepFile(part))
			quoted := jsonspan.Span{Start: part.Value.Start + 1, End: part.Value.End - 1} // what is between the quotes
			cut = append(cut, quoted)
		}
	}
	names = []string{k.keepContent(k.Request.ContentSource(it, cut))}
	if text := k.Request.LinesOf(it); text != "" {
		names = append([]string{k.keepContent([]byte(text))}, names...)
	}
	return names, files
}

// keepFile keeps the bytes of a picture or a document, or its address, and returns the name.
func (k *Known) keepFile(part conversation.Part) string {
	value := jsonspan.TextOf(part.Value.Of(k.Request.Body))
	content, err := base64.StdEncoding.DecodeString(string(value[bytes.LastIndexByte(value, ',')+1:]))
	if err != nil || part.IsAddress {
		return k.keepContent(value)
	}
	name := k.keepContent(content)
	format := path.Base(http.DetectContentType(content))
	switch format {
	case "png", "jpeg", "gif", "webp", "pdf":
		name += "." + format
		k.Artifacts.Content[name] = content
	}
	return name
}

// KeepItems keeps items [first, end) and returns their names: first as a transcript, then as JSON.
func (k *Known) KeepItems(first, end int) []string {
	source := k.keepContent(k.Request.Source(first, end))
	return []string{k.keepContent(summarize.Transcript(k.Request, k.Calls, first, end, source)), source}
}

// KeepAgain keeps all content that a recorded edit may have taken out, so that artifacts that were lost are put again.
func (k *Known) KeepAgain(v *view.View, e view.Edit) {
	if e.Op == view.AppendSystem || e.End() > len(k.Request.Items) { // the content is not in this request
		return
	}
	if e.Op == view.Drop {
		first, end := e.First, e.End()
		for n := range v.Edits { // drops that were made together share a transcript
			other := &v.Edits[n]
			if slices.Equal(other.Artifacts, e.Artifacts) {
				first, end = min(first, other.First), max(end, other.End())
			}
		}
		k.KeepItems(first, end)
		return
	}
	// The content of all other ops: only what e names is put.
	k.keepContent(k.Request.Source(e.First, e.End()))
	k.keepItem(e.First)
	for _, t := range k.textsOf(e.First) {
		k.keepText(e.First, t.raw)
	}
}
