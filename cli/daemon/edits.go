package daemon

import (
	"cmp"
	"slices"

	"epitome/console/story"
	"epitome/rewrite/ledger"
)

// edits reads how the messages of a request were sent, or in mode observe would have been, by the key of its decision.
func (k *shapers) edits(decision string) (story.Edits, error) {
	if decision == "" {
		return story.Edits{List: []story.Edit{}}, nil
	}
	d, found, err := k.observed.At(decision)
	if err != nil {
		return story.Edits{}, err
	}
	if !found {
		return story.Edits{List: []story.Edit{}, Missing: "the decision for this request is not kept any more: it has " +
			"expired, or its store is gone"}, nil
	}
	list := make([]story.Edit, 0, len(d.Edits))
	for i, e := range d.Edits {
		if e.Op == ledger.AppendSystem {
			continue
		}
		s := story.Edit{
			Item: e.Message, Last: e.Last, Rung: string(e.Step), Code: e.Why, Reason: e.Why.Sentence(), New: i >= len(d.Edits)-d.Added,
			Before: int(float64(e.Tokens+e.Saved) * d.Ratio), After: int(float64(e.Tokens) * d.Ratio), Text: e.Text,
		}
		switch {
		case e.Op == ledger.DropThinking && len(e.Artifacts) > 0:
			s.Thinking = e.Artifacts[0]
		case len(e.Artifacts) > 1:
			s.Readable, s.Artifact = e.Artifacts[0], e.Artifacts[1]
		case len(e.Artifacts) > 0:
			s.Artifact = e.Artifacts[0]
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b story.Edit) int { return cmp.Compare(a.Item, b.Item) })
	return story.Edits{List: list}, nil
}
