package ladder

import (
	"cmp"
	"fmt"
	"slices"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
	"epitome/rewrite/view"
	"epitome/tokenize"
)

// picture is a part of an item.
type picture struct {
	item, part int
	*conversation.Part
}

// pictures returns the pictures of the user and of results that are sent and can be left out, the oldest first.
func (k *Known) pictures(v *view.View) (list []picture) {
	for i := range k.Request.Items {
		it := &k.Request.Items[i]
		if it.Content.Empty() || !k.mayReplace(v, i, conversation.User) && !k.mayReplace(v, i, conversation.Tool) {
			continue
		}
		for part := range it.Parts {
			p := &it.Parts[part]
			isOut := func(e view.Edit) bool { return e.Op == view.ReplaceText && e.First == i && e.Part == part }
			if p.Kind == conversation.ImagePart && !p.Empty() && !slices.ContainsFunc(v.Edits, isOut) {
				list = append(list, picture{i, part, p})
			}
		}
	}
	return list
}

// leaveOldPictures leaves out the oldest pictures once the request has 80 % of what the API takes, or of the number
// that was refused: down to half of that, as each change costs the provider's cache. Those that the model has not seen
// stay.
func (k *Known) leaveOldPictures(p *Plan) {
	api := k.Request.Dialect.API()
	most := min(api.MaxPictures, cmp.Or(p.Pictures, api.MaxPictures))
	list := k.pictures(&p.View)
	sent := 0 // bytes
	for _, old := range list {
		sent += len(old.Value.Of(k.Request.Body))
	}
	if 5*len(list) <= 4*most && 5*sent <= 4*api.MaxImageBytes {
		return
	}
	out := 0 // pictures
	for _, old := range list {
		isEnough := 2*(len(list)-out) <= most && 2*sent <= api.MaxImageBytes
		if isEnough || old.item >= k.prefixEnd || k.mustShow(old.item) {
			break
		}
		sent -= len(old.Value.Of(k.Request.Body))
		out++
	}
	k.leavePictures(p, list[:out])
}

// RescuePictures leaves out pictures of a request that was refused for them, with each try more: those that are too
// large by themselves, or else the oldest half; then all but the newest; then all. When all are out, nothing changes.
func (k *Known) RescuePictures(p *Plan, try int) {
	list := k.pictures(&p.View)
	n := len(list)
	side := 8000 // pixels that Anthropic takes
	if n > 20 {
		side = 2000
	}
	first := slices.DeleteFunc(slices.Clone(list), func(one picture) bool {
		value := one.Value.Of(k.Request.Body)
		_, width, height := tokenize.PictureSize(jsonspan.TextOf(value))
		return len(value)/4*3 <= 5<<20 && max(width, height) <= side
	})
	if len(first) == 0 {
		p.Pictures = n
		first = list[:(n+1)/2]
	}
	out := [][]picture{first, list[:max(n-1, len(first))], list}
	out = slices.CompactFunc(out, func(a, b []picture) bool { return len(a) == len(b) }) // else a request comes again
	if try <= len(out) {
		k.leavePictures(p, out[try-1])
	}
}

// leavePictures puts notes in the places of pictures, which say where the pictures are.
func (k *Known) leavePictures(p *Plan, list []picture) {
	var edits []view.Edit
	for _, one := range list {
		value := jsonspan.TextOf(one.Value.Of(k.Request.Body))
		names := []string{k.keepFile(*one.Part)}
		its, what := "Its address", "picture at "+excerpt.OneLine(string(value), 300)
		if !one.IsAddress {
			format, width, height := tokenize.PictureSize(value)
			its, what = "Its bytes", fmt.Sprintf("picture (%s, %d x %d pixels, %d bytes)",
				cmp.Or(format, "format unknown"), width, height, len(k.Artifacts.Content[names[0]]))
		}
		note := excerpt.Note(what+" left out", k.whereToRead(its, names, 0))
		t := itemText{part: one.part, tokens: k.Scale.CountMedia(*one.Part, k.Request.Body)}
		edits = append(edits, k.replaceText(one.item, t, note, names, event.CodePictures))
	}
	p.View = k.with(p.View, view.StepClear, event.CodePictures, edits...)
}
