package promisetest

import (
	"path"

	"github.com/tidwall/gjson"
)

// bond is what a model of Messages binds its thinking to.
type bond struct {
	before hash   // all that stands before it, thinking aside
	last   string // the signature of the thinking before it; "" for none
}

// bindsThinking reports whether the model of a request accepts what it thought only behind what it thought that behind.
func bindsThinking(r Request, b *body) bool {
	binds, _ := path.Match("claude-*-5-[56]", b.model)
	return binds && r.API == "messages"
}

// mustLearn reports whether a core learns only from a refusal that the model does so.
func mustLearn(model string) bool {
	must, _ := path.Match("claude-*-5-6", model)
	return must
}

// refuses reports whether a provider would refuse what was sent, as thinking stands behind something else than it was
// thought behind, and a core could not know that the model minds.
func (j *judge) refuses(r Request, s Sent) bool {
	d := dialects[r.API]
	was, ok := parse(d, r.Body)
	now, fine := parse(d, s.Body)
	if !ok || !fine || !bindsThinking(r, was) || !mustLearn(was.model) || j.loose || j.broken {
		return false
	}
	_, n, before := j.before(r, was)
	return j.misplaced(r.Scope, was, now, n, before) != ""
}

// misplaced returns the signature of a thought of a model that binds it that is not sent behind exactly what it was
// thought behind. The oldest may be missing. The first n messages were sent before.
func (j *judge) misplaced(scope string, was, now *body, n int, before prefix) (wrong string) {
	id := func(signature string) hash { return hashOf(scope, maskNumbers(was.system), signature) }
	if before.messages == nil {
		n = 0
	}
	before.bond.walk(was.messages[n:], func(signature string, b bond) {
		if _, known := j.thoughts[id(signature)]; !known {
			j.thoughts[id(signature)] = b
		}
	})
	bond{}.walk(now.messages, func(signature string, b bond) {
		if thought := j.thoughts[id(signature)]; thought.before != b.before || thought.last != b.last && b.last != "" {
			wrong = signature
		}
	})
	return wrong
}

// walk calls visit, if it is not nil, with the signature of each thinking block and what stands before it, and returns
// what stands before the next one.
func (b bond) walk(list []message, visit func(signature string, b bond)) bond {
	pass := func(role, what string) { b.before = hashOf(string(b.before[:]), role, what) }
	for i := range list {
		role, content := list[i].Get("role").Str, list[i].Get("content")
		if content.Type == gjson.String {
			pass(role, content.Str)
		}
		content.ForEach(func(_, block gjson.Result) bool {
			switch signature := block.Get("signature").Str; block.Get("type").Str {
			case "thinking":
				if visit != nil && signature != "" {
					visit(signature, b)
				}
				b.last = signature
			case "text":
				pass(role, block.Get("text").Str)
			default:
				pass(role, unmark(block.Raw))
			}
			return true
		})
	}
	return b
}
