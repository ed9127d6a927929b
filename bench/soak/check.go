package soak

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/strict"
	"epitome/pattern"
)

// digest names an item of a request as it was sent.
type digest [sha256.Size]byte

// rungCount is what counts of actions begin with.
const rungCount = "action "

// keptCount counts requests with what a model wrote in a summary for their client.
const keptCount = "requests at the upstream: with a model's summary"

// judge holds an attempt to the promises, and notes what was broken. Before it epitome had been
// started again so many times.
func (s *soak) judge(a *attempt, kills int) {
	s.notes.count("attempts")
	s.notes.count("attempts: " + a.fate.String())
	s.notes.count(fmt.Sprintf("attempts: status %d", a.status))
	if a.action != "" {
		s.notes.count(rungCount + a.action)
	}
	broken := append(append(checkAnswer(a), checkOnce(a)...), checkFields(a)...)
	for _, n := range a.arrivals {
		s.notes.count("requests at the upstream")
		broken = append(broken, strangers("attempt "+a.id+" at the upstream", strconv.Itoa(a.talk.number), n.body)...)
		broken = append(broken, crossed("attempt "+a.id+" at the upstream", a.talk.holder, n.body)...)
		broken = append(broken, checkOrder(a, n.body)...)
		if bytes.Contains(n.body, []byte(keptBy(a.talk.holder))) {
			s.notes.count(keptCount)
		}
		if bytes.Equal(n.body, a.body) {
			s.notes.count("requests at the upstream: the client's own bytes")
		}
		broken = append(broken, checkForm(a, n.body, s.artifact)...)
	}
	broken = append(broken, strangers("the answer to attempt "+a.id, strconv.Itoa(a.talk.number), a.seen)...)
	broken = append(broken, crossed("the answer to attempt "+a.id, a.talk.holder, a.seen)...)
	if a.host.disturbed {
		s.notes.count("attempts while epitome was started or ended")
	}
	broken = append(broken, s.checkPrefix(a, kills)...)
	remember(s, a)
	s.notes.breaks(broken...)
}

// remember notes what was sent last of a conversation, and what was recorded before that.
func remember(s *soak, a *attempt) {
	n, t := a.newest(), a.talk
	if n == nil {
		return
	}
	switch {
	case s.told.isLoose(t.sentBy):
		t.loose = append(t.loose, t.before)
	case s.told.knows(t.sentBy):
		t.loose = [][]digest{t.before}
	}
	t.before, t.sentBy = itemsOf(n.body), a.id
}

// checkAnswer wants the client to have what the upstream sent it, and what was cut to be cut.
func checkAnswer(a *attempt) []string {
	n := a.newest()
	tell := func(format string, args ...any) []string {
		return []string{"attempt " + a.id + ", " + a.fate.String() + ": " + fmt.Sprintf(format, args...)}
	}
	switch {
	case a.host.disturbed && (a.fault != nil || strings.Contains(string(a.seen), "epitome_error")):
		return nil
	case a.left:
		if n != nil && !bytes.HasPrefix(n.said, a.seen) {
			return tell("the client has what the upstream never said (nothing is mixed)")
		}
		return nil
	case n == nil:
		return tell("nothing reached the upstream: status %d, %v, %.200s (nothing is lost)", a.status, a.fault, a.seen)
	case a.status != 0 && a.status != n.status:
		return tell("status %d became %d: %.200s (promise 1)", n.status, a.status, a.seen)
	case !bytes.HasPrefix(n.said, a.seen):
		return tell("the client has another answer than the upstream sent (promise 1)")
	case a.fault == nil && !n.whole:
		return tell("an answer that was cut came out complete (promise 9)")
	case a.fault == nil && len(a.seen) < len(n.said):
		return tell("%d of %d bytes of the answer are missing, and it came out complete (promise 9)",
			len(n.said)-len(a.seen), len(n.said))
	case a.fault != nil && n.whole:
		return tell("an answer that was whole did not arrive: %v (nothing is lost)", a.fault)
	}
	return nil
}

// checkOnce wants a request to be sent again only where it was refused as too long.
func checkOnce(a *attempt) (broken []string) {
	for i, n := range a.arrivals {
		if i < len(a.arrivals)-1 && n.status != http.StatusBadRequest {
			broken = append(broken, fmt.Sprintf("attempt %s: sent again after status %d (nothing is sent twice)", a.id,
				n.status))
		}
	}
	return broken
}

// checkFields wants all beside the conversation to be as the client sent it, in its order. Of several requests for one
// attempt only the first has to: a rescue may ask for a shorter answer.
func checkFields(a *attempt) []string {
	if len(a.arrivals) == 0 {
		return nil
	}
	if was, is := beside(a.body), beside(a.arrivals[0].body); was != is {
		return []string{fmt.Sprintf("attempt %s: outside the conversation %.200q became %.200q (promise 2)", a.id, was, is)}
	}
	return nil
}

// beside is what a request has beside its conversation.
func beside(body []byte) string {
	var b strings.Builder
	gjson.ParseBytes(body).ForEach(func(key, v gjson.Result) bool {
		if b.WriteString(key.Raw); key.Str != "messages" && key.Str != "input" {
			b.WriteString(v.Raw)
		}
		return true
	})
	return b.String()
}

// strangers wants no mark of another conversation than number in a text.
func strangers(what, number string, text []byte) []string {
	said := string(text)
	for _, at := range marks.FindAllStringSubmatchIndex(said, -1) {
		if said[at[2]:at[3]] != number {
			return []string{fmt.Sprintf("%s has %s, which is another conversation's (promise 7)", what, said[at[0]:at[1]])}
		}
	}
	return nil
}

// itemsOf are the items of a request, by what they are to the byte.
func itemsOf(body []byte) (all []digest) {
	list := gjson.GetBytes(body, "messages")
	if !list.Exists() {
		list = gjson.GetBytes(body, "input")
	}
	list.ForEach(func(_, item gjson.Result) bool {
		all = append(all, sha256.Sum256([]byte(item.Raw)))
		return true
	})
	return all
}

// checkPrefix wants what was sent of the conversation before to go on as it was, unless epitome tells that it does not.
// Of several requests for one attempt only the first has to. Where the client had no answer, or epitome ended
// meanwhile, what it told is not known. A kill takes with it what it had to tell of the moment before; nothing else
// may. Behind a request of which nobody knows whether anything was recorded, what was sent before that one goes on, or
// the last such request's form, which the store may have taken after all.
func (s *soak) checkPrefix(a *attempt, kills int) []string {
	switch {
	case goesOn(a, a.talk.before):
		s.notes.count("prefixes: as before")
	case a.host.disturbed || a.action == "":
		s.notes.count("prefixes: changed, and what was told is not known")
	case s.told.broke(a.id, s.patience) || s.wroteBroke(a):
		s.notes.count("prefixes: changed, and told")
	case s.told.isLoose(a.talk.sentBy) && goesOnFromOne(a, a.talk.loose):
		s.notes.count("prefixes: as one before a request of which nobody knew whether anything was recorded")
	case !s.told.knows(a.id) && a.host.countKills() > kills:
		s.notes.count("prefixes: changed, and what was told is lost, as the process was killed right behind it")
	default:
		return []string{fmt.Sprintf("attempt %s: what was sent before is sent in another form, and nothing tells it"+
			" (promise 5); an event of it is known: %t", a.id, s.told.knows(a.id))}
	}
	return nil
}

// wroteBroke tells whether the files of events say so.
func (s *soak) wroteBroke(a *attempt) bool {
	const looks = 10 // while one is packed, it may be found under neither name
	for range looks {
		s.told.readFiles(filepath.Join(a.host.data(), "events"), a.id)
		if s.told.knows(a.id) {
			break
		}
		time.Sleep(s.patience / looks)
	}
	return s.told.broke(a.id, 0)
}

// goesOn tells whether a request begins with what was sent before.
func goesOn(a *attempt, before []digest) bool {
	if len(a.arrivals) == 0 {
		return true
	}
	now := itemsOf(a.arrivals[0].body)
	return len(now) >= len(before) && slices.Equal(now[:len(before)], before)
}

func goesOnFromOne(a *attempt, forms [][]digest) bool {
	return slices.ContainsFunc(forms, func(before []digest) bool { return goesOn(a, before) })
}

// checkOrder has a strict server of the dialect judge a body.
func checkOrder(a *attempt, body []byte) []string {
	var err error
	switch a.talk.dialect {
	case chat:
		err = chatOrder(body)
	case messages:
		err = judged(func() (strict.Judge, error) {
			signed, err := strict.Sign(a.body, countBytes)
			return strict.New(signed, countBytes, false), err
		}, body)
	case responses:
		err = judged(func() (strict.Judge, error) { return strict.NewResponses(a.body, countBytes, false) }, body)
	}
	if err != nil {
		return []string{fmt.Sprintf("attempt %s: a server of %s refuses what was sent: %v (promise 3)", a.id,
			a.talk.dialect, err)}
	}
	return nil
}

func judged(open func() (strict.Judge, error), body []byte) error {
	j, err := open()
	if err == nil {
		_, err = j.Take(body, time.Time{})
	}
	return err
}

func countBytes(text string) int { return len(text) / bytesPerToken }

// chatOrder wants each call answered right behind it, and each result called for.
func chatOrder(body []byte) error {
	if !gjson.ValidBytes(body) {
		return fmt.Errorf("the body is no JSON")
	}
	waiting := map[string]bool{}
	for i, m := range gjson.GetBytes(body, "messages").Array() {
		if m.Get("role").Str == "tool" {
			if id := m.Get("tool_call_id").Str; !waiting[id] {
				return fmt.Errorf("message %d is a result that no call before it waits for", i)
			}
			delete(waiting, m.Get("tool_call_id").Str)
			continue
		}
		if len(waiting) > 0 {
			return fmt.Errorf("before message %d calls have no results", i)
		}
		for _, c := range m.Get("tool_calls").Array() {
			if !gjson.Valid(c.Get("function.arguments").Str) {
				return fmt.Errorf("message %d calls with what is no JSON", i)
			}
			waiting[c.Get("id").Str] = true
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("at the end calls have no results")
	}
	return nil
}

// stringsOf are all strings in a JSON value, decoded.
func stringsOf(body []byte) (all []string) {
	var walk func(_, v gjson.Result) bool
	walk = func(_, v gjson.Result) bool {
		if v.IsObject() || v.IsArray() {
			v.ForEach(walk)
		} else if v.Type == gjson.String {
			all = append(all, v.Str)
		}
		return true
	}
	walk(gjson.Result{}, gjson.ParseBytes(body))
	return all
}

// named finds the artifacts that a text names.
var named = pattern.Of(`artifact(?:s[/\\]+| )([a-z2-7]{26})\b`)

// checkForm wants a body to be the client's own, or one whose original can be made again: what was said and does not
// stand in it whole lies in an artifact that it names, or that such an artifact names.
func checkForm(a *attempt, body []byte, artifact func(name string) string) (broken []string) {
	if bytes.Equal(body, a.body) {
		return nil
	}
	t, parts := a.talk, stringsOf(body)
	stands := make(map[string]bool, len(parts))
	for _, p := range parts {
		stands[p] = true
	}
	joined, reach := strings.Join(parts, "\x00"), map[string]bool{}
	reachable(joined, reach, artifact)
	for i, text := range t.texts {
		if stands[text] || reach[t.safe[i]] || strings.Contains(joined, text) {
			continue
		}
		if t.safe[i] = holder(text, reach, artifact); t.safe[i] == "" {
			broken = append(broken, fmt.Sprintf("attempt %s: text %d (%.60q…) neither stands in the request nor in any of the"+
				" %d artifacts it names (promise 6)", a.id, i, text, len(reach)))
		}
	}
	return broken
}

// reachable adds the artifacts that a text names, and those that they name.
func reachable(text string, reach map[string]bool, artifact func(name string) string) {
	for _, at := range named.FindAllStringSubmatchIndex(text, -1) {
		if name := text[at[2]:at[3]]; !reach[name] {
			reach[name] = true
			reachable(artifact(name), reach, artifact)
		}
	}
}

// holder is an artifact that has the text whole, as it is or as JSON.
func holder(text string, among map[string]bool, artifact func(name string) string) string {
	inJSON := strings.Trim(quoted(text), `"`)
	for name := range among {
		if content := artifact(name); strings.Contains(content, text) || strings.Contains(content, inJSON) {
			return name
		}
	}
	return ""
}
