package ladder

import (
	"cmp"
	"fmt"
	"slices"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
)

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

// leaveOldPictures leaves out the oldest pictures once the request has 80 % of what the API takes, or of the number that
// was refused: down to half of that, as each change costs the provider's cache. Those that the model has not seen stay.
func (s State) leaveOldPictures() {
	number, size := s.Request.Dialect.MaxPictures()
	number = min(number, cmp.Or(s.Decision.Pictures, number))
	list, sent, n := s.pictures(), 0, 0 // sent is in bytes, n pictures are left out
	for _, p := range list {
		sent += len(p.Value.Of(s.Request.Body))
	}
	if 5*len(list) <= 4*number && 5*sent <= 4*size {
		return
	}
	for ; n < len(list) && (2*(len(list)-n) > number || 2*sent > size); n++ {
		if p := list[n]; p.item >= s.prefixEnd || s.mustShow(p.item) {
			break
		}
		sent -= len(list[n].Value.Of(s.Request.Body))
	}
	s.leavePictures(list[:n])
}

// RescuePictures leaves out pictures of a request that was refused for them, with each try more: those that are too
// large by themselves, or else the oldest half; then all but the newest; then all. When all are out, nothing changes.
func (s State) RescuePictures(try int) {
	list, side := s.pictures(), 8000 // pixels that Anthropic takes
	n := len(list)
	if n > 20 {
		side = 2000
	}
	first := slices.DeleteFunc(slices.Clone(list), func(p picture) bool {
		_, width, height := tokenize.PictureSize(jsonspan.TextOf(p.Value.Of(s.Request.Body)))
		return len(p.Value.Of(s.Request.Body))/4*3 <= 5<<20 && max(width, height) <= side
	})
	if len(first) == 0 {
		s.Decision.Pictures, first = n, list[:(n+1)/2]
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
		value, names := jsonspan.TextOf(p.Value.Of(s.Request.Body)), []string{s.keepFile(*p.Part)}
		format, width, height := tokenize.PictureSize(value)
		its, what := "Its bytes", fmt.Sprintf("picture (%s, %d x %d pixels, %d bytes) left out",
			cmp.Or(format, "format unknown"), width, height, len(s.Content[names[0]]))
		if p.IsAddress {
			its, what = "Its address", "picture at "+excerpt.OneLine(string(value), 300)+" left out"
		}
		text := excerpt.Note(what, s.whereToRead(its, names, 0))
		e := ledger.Edit{First: p.item, Count: 1, Op: ledger.ReplaceText, Part: p.part, Text: text,
			Artifacts: names, Tokens: s.Scale.CountText(text), Step: ledger.StepClear, Reason: event.CodePictures}
		e.Saved = s.Scale.CountMedia(*p.Part, s.Request.Body) - e.Tokens
		edits = append(edits, e)
	}
	s.Add(edits...)
}
