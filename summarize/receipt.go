package summarize

import (
	"iter"
	"math"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
)

// Receipt says of a conversation's user messages, standing orders, files written, failures and tasks how many stand in
// the request that is sent in its place. Of a model's text in that request it says how many names, long numbers and
// decisions of the user have something that was said behind them. What is missing stands there in the order in which it
// was said, each once.
func Receipt(r, sent *conversation.Request, calls []activity.Call, says Says) (receipt []event.Standing) {
	s := newSummary(Span{Request: r, Calls: calls, To: len(r.Items), End: len(r.Items), Found: map[int][]string{}})
	shown := seen{}
	sentCalls := activity.Of(sent, nil)
	for i := range sent.Items {
		for _, e := range spoken(sent, sentCalls, i) {
			shown.addSentences(e.Text)
		}
		for _, c := range sent.Items[i].Calls {
			shown.addSentences(string(c.ArgumentsIn(sent.Body))) // tasks are compared as JSON
		}
	}
	add := func(kind string, texts []string) {
		receipt = append(receipt, standing(kind, texts, shown.has))
	}
	var messages, orders, failures, tasks []string
	for i := range r.Items {
		text, _ := s.usersOwn(i)
		messages = append(messages, text)
	}
	for _, o := range s.orders() {
		orders = append(orders, o.text)
	}
	slices.Reverse(orders)
	for i := range calls {
		c := &calls[i]
		failure := c.Failure(c.ResultText(r))
		if failure == "" && c.Failed() {
			failure = c.About + "\n(" + c.State() + ")"
		}
		failures = append(failures, failure)
	}
	list, _, _ := s.taskList()
	for _, t := range list {
		tasks = append(tasks, t.text)
	}
	add("messages", messages)
	add("orders", orders)
	add("files", strings.Split(s.Files(activity.Write, math.MaxInt32, nil), "\n"))
	add("failures", failures)
	add("tasks", tasks)
	if says.Text != "" {
		receipt = append(receipt, s.grounds(says.Text))
	}
	return receipt
}

// standing says which of some texts a request has. Empty ones do not count, and equal ones count once.
func standing(kind string, texts []string, has func(text string) bool) event.Standing {
	result := event.Standing{Kind: kind}
	known := map[string]bool{"": true}
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if known[text] {
			continue
		}
		known[text] = true
		result.All++
		if has(text) {
			result.Sent++
		} else {
			result.Missing = append(result.Missing, text)
		}
	}
	return result
}

// sentences yields the sentences of a text, or the lines.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			sentence := firstSentence(text, ".!?;", len(text))
			text = text[len(sentence):]
			if !yield(sentence) {
				return
			}
		}
	}
}

// addSentences adds the words of a text. Only words of one sentence are neighbours.
func (s seen) addSentences(text string) {
	for sentence := range sentences(text) {
		s.add(sentence)
	}
}

// has reports whether all of a text was added with addSentences: each word behind the same one, in each sentence.
func (s seen) has(text string) bool {
	for sentence := range sentences(text) {
		isFirst := true // it may stand behind a number, or a mark
		for w := range words(sentence) {
			if isFirst && !s[w.hash] || !isFirst && !s[w.pair] {
				return false
			}
			isFirst = false
		}
	}
	return true
}

// grounds says of the names and long numbers of a model's text, and of its sentences by which the user has decided
// something, for how many something stands in what was said.
func (s *summary) grounds(text string) event.Standing {
	names, unknown := s.unknownNames(text)
	var decisions []string
	for sentence := range sentences(text) {
		tone, _ := toneOf(sentence)
		if tone.has(decided) {
			decisions = append(decisions, strings.Trim(sentence, "-* \t\n"))
		}
	}
	missing := s.unsaid(decisions)
	for _, name := range unknown {
		missing[name] = true
	}
	return standing("claims", append(names, decisions...), func(text string) bool { return !missing[text] })
}

// unsaid returns those of some sentences about decisions of the user that have mostly words which stand in no message of
// the user, nor in the messages of the agent that one answers. Each text is read once, however many sentences there are.
func (s *summary) unsaid(sentences []string) map[string]bool {
	type place struct{ sentence, size int }
	places := map[uint64][]place{} // by word
	sizes := make([]int, len(sentences))
	unsaid := map[string]bool{}
	for n, sentence := range sentences {
		unsaid[sentence] = true
		for w := range words(sentence) {
			places[w.hash] = append(places[w.hash], place{n, w.size})
			sizes[n] += w.size
		}
	}
	heard := seen{}
	for i := range s.Request.Items {
		if len(unsaid) == 0 {
			break
		}
		it := &s.Request.Items[i]
		if it.Role == conversation.Assistant {
			heard.add(s.Request.TextOf(it))
		}
		text, _ := s.usersOwn(i)
		if text == "" {
			continue
		}
		heard.add(text)
		known := map[int]int{} // by sentence, bytes of words that were heard
		for word := range heard {
			for _, p := range places[word] {
				known[p.sentence] += p.size
			}
		}
		for n, size := range known {
			if float64(sizes[n]-size)/float64(sizes[n]) < newsOfPart {
				delete(unsaid, sentences[n])
			}
		}
		clear(heard)
	}
	return unsaid
}
