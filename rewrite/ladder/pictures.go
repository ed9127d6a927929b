package ladder

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
)

// picture is a part of an item. value is its data in base64, maybe behind the beginning of a data URL, or its address.
type picture struct {
	item, part int
	value      []byte
}

func (s *State) pictureAt(item, part int) picture {
	return picture{item, part, jsonspan.TextOf(s.Request.Items[item].Parts[part].Value.Of(s.Request.Body))}
}

// pictures returns the pictures of the user and of results that are sent and can be left out, the oldest first.
func (s *State) pictures() (list []picture) {
	for i := range s.Request.Items {
		it := &s.Request.Items[i]
		if it.Content.Empty() || !s.mayReplace(i, conversation.User) && !s.mayReplace(i, conversation.Tool) {
			continue
		}
		for k, p := range it.Parts {
			isOut := func(e ledger.Edit) bool { return e.Op == ledger.ReplaceText && e.First == i && e.Part == k }
			if p.Kind == conversation.ImagePart && !p.Empty() && !slices.ContainsFunc(s.Edits, isOut) {
				list = append(list, s.pictureAt(i, k))
			}
		}
	}
	return list
}

// Pictures leaves out the oldest pictures once the request has 80 % of what the API takes, or of the number that was
// refused: down to half of that, as each change costs the provider's cache. Those that the model has not seen stay.
func Pictures(s *State) {
	number, size := 500, 50<<20 // pictures and bytes of a request, from OpenAI's guide to vision as of 2026
	if s.Request.Dialect.Name() == "messages" {
		number, size = 100, 32<<20 // from Anthropic's
	}
	number = min(number, cmp.Or(s.Decision.Pictures, number))
	list, sent, n := s.pictures(), 0, 0 // sent is in bytes, n pictures are left out
	for _, p := range list {
		sent += len(p.value)
	}
	if 5*len(list) <= 4*number && 5*sent <= 4*size {
		return
	}
	for ; n < len(list) && (2*(len(list)-n) > number || 2*sent > size); n++ {
		if p := list[n]; p.item >= s.prefixEnd || s.mustShow(p.item) {
			break
		}
		sent -= len(list[n].value)
	}
	s.leavePictures(list[:n])
}

// RescuePictures leaves out pictures of a request that was refused for them, with each try more: those that are too
// large by themselves, or else the oldest half; then all but the newest; then all.
func RescuePictures(s *State, try int) {
	list, side := s.pictures(), 8000 // pixels that Anthropic takes
	if len(list) > 20 {
		side = 2000
	}
	large := slices.DeleteFunc(slices.Clone(list), func(p picture) bool {
		_, width, height := tokenize.PictureSize(p.value)
		return len(p.value)/4*3 <= 5<<20 && max(width, height) <= side
	})
	switch n := len(list); {
	case try == 1 && len(large) > 0:
		list = large
	case try == 1:
		s.Decision.Pictures, list = n, list[:(n+1)/2]
	case try == 2 && n > 1:
		list = list[:n-1]
	}
	s.leavePictures(list)
}

// leavePictures puts notes in the places of pictures, which say where the pictures are.
func (s *State) leavePictures(list []picture) {
	var edits []ledger.Edit
	for _, p := range list {
		format, width, height := tokenize.PictureSize(p.value)
		name := s.keepPicture(p)
		what := fmt.Sprintf("picture (%s, %d x %d pixels, %d bytes) left out", cmp.Or(format, "format unknown"), width,
			height, len(s.Content[name]))
		text := excerpt.Note(what, s.whereToRead("Its bytes", []string{name}, 0))
		e := ledger.Edit{First: p.item, Count: 1, Op: ledger.ReplaceText, Part: p.part, Text: text,
			Artifacts: []string{name}, Tokens: s.Scale.CountText(text), Step: ledger.StepClear, Why: event.CodePictures}
		e.Saved = s.Scale.CountMedia(s.Request.Items[p.item].Parts[p.part], s.Request.Body) - e.Tokens
		edits = append(edits, e)
	}
	s.Add(edits...)
}

// keepPicture keeps a picture's bytes, or what stands in their place, and returns the name.
func (s *State) keepPicture(p picture) string {
	data := p.value[bytes.LastIndexByte(p.value, ',')+1:]
	content, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		content = p.value
	}
	return s.keepContent(content)
}
