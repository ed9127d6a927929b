package ladder

import (
	"strings"

	"epitome/dialect/conversation"
	"epitome/offload/excerpt"
	"epitome/rewrite/view"
)

// maxCall is how many characters of a call the text in the place of its result repeats: the call itself stands above.
const maxCall = 100

// stub returns the edit that clears result i. Its text says what was called, how the call ended if not well, how large
// the result is and where it can be read. Unless the result is stale, it quotes the failure of a failed call, or else a
// model's distillate, if there is one.
func (k *Known) stub(v *view.View, i int) view.Edit {
	call := k.CallOf[i]
	what := excerpt.OneLine(call.String(), maxCall) + ", " + call.State()
	what = strings.TrimSuffix(what, ", ok") // as most calls end
	if k.isStale(i) {
		return k.clearEdit(i, what, " omitted, as a later call repeats it or changed the file", "")
	}
	text := k.Request.LinesOf(&k.Request.Items[i])
	failure := call.Failure(text)
	if failure != "" && 2*len(failure) < len(text) { // else the quote would free little
		return k.clearEdit(i, what, " omitted; failing lines follow", failure)
	}
	said := k.distillate(v, i)
	if said != "" {
		return k.clearEdit(i, what, " omitted; a model's account of it follows", said)
	}
	return k.clearEdit(i, what, " omitted", "")
}

// clearEdit returns the edit that puts one text in the place of all that item i says. The text names what the item was
// and its size, says what was done to it and where to read it, and ends with a quote, if any.
func (k *Known) clearEdit(i int, what, done, quoted string) view.Edit {
	it := &k.Request.Items[i]
	media := k.Request.Media(it)
	names, files := k.keepItem(i)
	isDocument := it.Role == conversation.User && media != "" // the lines may be those of a document
	if k.Request.TextOf(it) != "" && !isDocument {
		lines := excerpt.CountLines(string(k.Artifacts.Content[names[0]])) // of what the model is told to read
		what += ", " + excerpt.Amount(lines)
	}
	if media != "" {
		what += ", " + media
	}
	where := k.whereToRead("Full output", names, it.Size.Text)
	for _, name := range files {
		where += ". " + k.whereToRead("Picture or document", []string{name}, 0)
	}
	text := excerpt.Note(what+done, where)
	if quoted != "" {
		text += "\n" + excerpt.Quote(quoted)
	}
	tokens := it.Size.Media
	for n := range it.Parts { // text and other parts are in Size.Text, beside calls and thinking, which stay
		if p := &it.Parts[n]; p.Kind < conversation.ImagePart {
			tokens += k.Request.CountContent(k.Scale, i, p.Value.Of(k.Request.Body))
		}
	}
	return k.edit(view.Clear, i, tokens, text, append(names, files...))
}
