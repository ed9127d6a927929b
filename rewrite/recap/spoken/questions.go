package spoken

import (
	"slices"
	"strings"
	"unicode"

	"epitome/pattern"
	"epitome/rewrite/sentence"
)

// What a short reply is, and how much is told of what stands before it.
const (
	longestReply  = 160 // bytes
	longestBare   = 60  // bytes of one that may answer a question and name no choice
	barestReply   = 3   // words; such a one may say nothing by itself
	longestLead   = 400 // bytes of a line that is told
	endOfMessage  = 8 << 10
	lastSentences = 12 // in which a question is looked for
	mostChoices   = 3
)

// leadOf are the lines of the agent's message that a reply of the user answers: the choices that it names, and the last
// question. What says all by itself has none.
func leadOf(message, reply string) (lines []string) {
	reply = strings.TrimSpace(reply)
	if len(reply) > longestReply || strings.Count(reply, "\n") > 1 || reply == "" {
		return nil
	}
	if choice.MatchString(reply) && len(strings.Fields(reply)) > barestReply { // it says what it names
		return nil
	}
	message = tailOf(message)
	lines = choicesIn(message, reply)
	if len(lines) == 0 && len(reply) > longestBare && !agrees.MatchString(reply) {
		return nil
	}
	last, isQuestion := lastOf(message)
	isBare := len(lines) == 0 && agrees.MatchString(reply) && len(strings.Fields(reply)) <= barestReply
	if last != "" && (isQuestion || isBare) && !slices.Contains(lines, last) {
		lines = append(lines, last)
	}
	return lines
}

// agrees finds how a reply begins that answers what stands before it.
var agrees = pattern.Of(`(?i)^(?:yes|yeah|yep|yup|y|no|nope|nah|n|ok|okay|sure|go|continue|do|proceed|please|agreed|correct|right|` +
	`exactly|fine|lgtm|perfect|great|good|sounds|both|all|neither|none|the|let's|lets|that|this|it|ja|nein|weiter|gerne|oui|non|` +
	`si|sí|sim|não|vale|claro)\b|^(?:да|нет|давай|хорошо|はい|いいえ|お願い|好的|是的|可以|不用|네|아니)`)

// opens finds a question that says nothing: whatever comes next may answer it.
var opens = pattern.Of(`(?i)^\W*(?:what['’]s next|` +
	`what (?:would|do) you (?:like|want)(?: me)?(?: to)?(?: do| work on)?(?: next)?\W*$|anything else|` +
	`is there anything|how (?:can|may) i help|what (?:else|next)|what should i (?:do|work on))`)

// lastOf is the last question of a message, if it stands at its end; else the last sentence.
func lastOf(message string) (last string, isQuestion bool) {
	parts := sentence.PartsOf(message)
	for k, p := range slices.Backward(parts) {
		text := message[p.Start:p.End]
		if len(text) > longestLead || strings.Contains(text, "\n") || !sentence.SaysSomething(text) {
			continue
		}
		if k >= len(parts)-lastSentences && asks(text) {
			at := strings.LastIndexAny(strings.TrimRight(text, " ?*_`)\"'"), ".!") + 1
			if !opens.MatchString(text[at:]) {
				return text, true
			}
			continue
		}
		if last == "" {
			last = text
		}
	}
	return last, false
}

// tailOf is the end of a message, from the beginning of a line on.
func tailOf(message string) string {
	if len(message) <= endOfMessage {
		return message
	}
	message = message[len(message)-endOfMessage:]
	_, rest, _ := strings.Cut(message, "\n")
	return rest
}

// asks reports whether a sentence is a question.
func asks(text string) bool {
	text = strings.TrimRight(text, " *_`)\"'»")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "か。")
}

// choice finds a row of a list or a table with its number or letter.
var choice = pattern.Of(`^[\s|>*_(#-]*(?:(?i:option|choice|approach|variant)\s+)?([0-9]{1,2}|[A-Ha-h])[*_\x60]*\s*[.):|—–-]`)

// choicesIn are the rows of a message that a reply names, in their order. Of several rows with one number it means the
// last.
func choicesIn(message, reply string) (lines []string) {
	keys := namedIn(reply)
	if len(keys) == 0 {
		return nil
	}
	rows := map[string]string{}
	for l := range strings.Lines(message) {
		l = strings.TrimSpace(l)
		if m := choice.FindStringSubmatch(l); m != nil && len(l) <= longestLead {
			rows[strings.ToLower(m[1])] = l
		}
	}
	for _, key := range keys {
		if row := rows[key]; row != "" && len(lines) < mostChoices && !slices.Contains(lines, row) {
			lines = append(lines, row)
		}
	}
	return lines
}

// placeOf is the number of a place in a list, as a word tells it; empty for others.
func placeOf(word string) string {
	switch word {
	case "first", "1st", "one":
		return "1"
	case "second", "2nd", "two":
		return "2"
	case "third", "3rd", "three":
		return "3"
	case "fourth", "4th":
		return "4"
	case "fifth", "5th":
		return "5"
	}
	return ""
}

// namedIn are the numbers and letters of choices that a reply names.
func namedIn(reply string) (keys []string) {
	isBetween := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	words := strings.FieldsFunc(strings.ToLower(reply), isBetween)
	for k, w := range words {
		isLetter := len(w) == 1 && w >= "a" && w <= "h" && (len(words) == 1 || k > 0 && words[k-1] == "option")
		switch {
		case len(w) <= 2 && strings.Trim(w, "0123456789") == "":
			keys = append(keys, strings.TrimLeft(w, "0"))
		case placeOf(w) != "":
			keys = append(keys, placeOf(w))
		case isLetter:
			keys = append(keys, w)
		}
	}
	return keys
}
