package rewrite

import (
	"encoding/json"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// judge looks at one request and what was sent in its place, and says which promise is broken.
type judge struct {
	teller
	was, now *conversation.Request
	out      Output
	scale    conversation.Scale
	bench    *bench
}

// wrote reports whether a model wrote the line, as it is shown.
func (j *judge) wrote(line string) bool {
	return j.bench.narrator != nil && j.bench.narrator.wrote(line)
}

// get is what the artifact holds.
func (j *judge) get(artifact string) ([]byte, error) { return j.bench.cupboard.Get(artifact) }

// teller is a test of any kind.
type teller interface {
	Helper()
	Fatalf(format string, args ...any)
}

// isLegible reports whether the content of an item can be taken apart.
func (j *judge) isLegible(i int) bool {
	_, err := j.was.Parts(&j.was.Items[i])
	return err == nil
}

// begins holds that a message of the user is sent as it came, whatever stands behind it.
func (j *judge) begins(i, at int) {
	j.Helper()
	said := string(j.was.Items[i].Content.Of(j.was.Body))
	if sent := string(j.now.Items[at].Content.Of(j.now.Body)); !strings.HasPrefix(sent, strings.TrimSuffix(said, "]")) {
		j.Fatalf("promise 2: message %d is the user's, and %.300q was sent of %.300q", i, sent, said)
	}
}

// written holds that all that a message says stands in the transcripts, to be found line by line.
func (j *judge) written(i int, text *shelf) {
	j.Helper()
	it := &j.was.Items[i]
	texts := slices.DeleteFunc(textsOf(j.was, it), func(s string) bool { return isOther(s) })
	if !j.isLegible(i) {
		texts = []string{string(it.Content.Of(j.was.Body))} // as it came
	}
	for _, c := range it.Calls {
		var arguments map[string]any
		raw := string(c.ArgumentsIn(j.was.Body))
		if json.Unmarshal([]byte(raw), &arguments) != nil {
			texts = append(texts, raw)
		}
		for _, v := range arguments {
			if s, ok := v.(string); ok {
				texts = append(texts, s)
			}
		}
	}
	for _, s := range texts {
		if !text.has(s) {
			j.Fatalf("promise 6: of message %d this is in no transcript: %.200q", i, s)
		}
	}
}

// keeps reports whether the artifacts hold an item to the byte. No link covers what was thought: where writes fail, an
// equal request may have come with it or without. All else is held to the byte.
func (j *judge) keeps(kept *shelf, it *conversation.Item) bool {
	if kept.has(unmarked(string(it.Of(j.was.Body)))) {
		return true
	}
	if j.out.Report.Err == nil {
		return false
	}
	thought := conversation.WithoutThinking(j.was, it)
	slices.SortFunc(thought, func(a, b span.Edit) int { return a.Start - b.Start })
	at := it.Start
	for _, e := range thought {
		if !kept.has(unmarked(string(j.was.Body[at:e.Start]))) {
			return false
		}
		at = e.End
	}
	return len(thought) > 0 && kept.has(unmarked(string(j.was.Body[at:it.End])))
}
