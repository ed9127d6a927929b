package words

import (
	"strings"

	"epitome/console/markup"
)

// Refused says why a provider refused a request that epitome then made shorter, or gave another form.
func Refused(kind string) string {
	switch kind {
	case "input":
		return "it was longer than the model's window"
	case "output":
		return "there was no room for the output that it asked for"
	case "rate":
		return "it was larger than what is granted for a time"
	case "bytes":
		return "it had too many bytes"
	case "malformed":
		return "its conversation was taken for broken"
	case "thinking":
		return "what the model had thought was taken for bound to another conversation"
	}
	return markup.Shown(kind)
}

// Steps says what was done to a request that was refused, each time that it was sent again.
func Steps(stages string) string {
	all := strings.Split(stages, ", ")
	for i, stage := range all {
		all[i] = step(stage)
	}
	return strings.Join(all, ", ")
}

func step(stage string) string {
	switch stage {
	case "output":
		return "it asked for less output"
	case "clear":
		return "old results were cleared"
	case "compact":
		return "old turns became a summary, and results were cut where that was not enough"
	case "bare":
		return "calls and results were left out"
	case "users":
		return "messages of the user were left to the transcript"
	case "whole":
		return "it went as it came"
	case "thinking":
		return "what the model had thought was left out"
	}
	return markup.Shown(stage)
}
