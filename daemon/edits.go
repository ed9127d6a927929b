package daemon

import (
	"epitome/console/story"
	"epitome/rewrite/conversation"
	"epitome/rewrite/sent"
)

// edits reads in what forms the messages of a request were sent, or in mode observe would have been, by what its event
// calls the decision.
func (k *shapers) edits(decision string) (story.Edits, error) {
	if decision == "" {
		return story.Edits{List: []story.Edit{}}, nil
	}
	list, found := sent.Edits(k.seen, decision, dialectWith)
	if !found {
		return story.Edits{List: []story.Edit{}, Missing: "what was decided for this request is not kept any more: " +
			"it has expired, or the store that held it is gone"}, nil
	}
	all := story.Edits{List: make([]story.Edit, len(list))}
	for i, e := range list {
		all.List[i] = story.Edit{
			Item: e.Item, Last: e.Last, Rung: e.Rung, Code: e.Code, Reason: e.Code.Sentence(), New: e.New,
			Before: e.Before, After: e.After, Text: e.Text,
			Artifact: e.Artifact, Readable: e.Readable, Thinking: e.Thinking,
		}
	}
	return all, nil
}

// dialectWith is the dialect that has the key; nil if none has.
func dialectWith(key string) conversation.Dialect {
	for _, d := range dialects() {
		if d.Key() == key {
			return d.Dialect
		}
	}
	return nil
}
