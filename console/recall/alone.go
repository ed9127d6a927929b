package recall

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// Description says to a model what the tool recall is for, where it is the only one.
const Description = "Read an artifact: a result or older turns of this conversation that were moved out of it. Lines that " +
	"begin with [epitome: say what was moved and name its artifact: 26 letters and digits. Call this when you need what they " +
	"stand for. Give lines, grep or path to read a part of it. A long answer ends with what to ask for next."

// Schema is what its arguments are, as a JSON schema.
const Schema = `{"type":"object","properties":{` +
	`"artifact":{"type":"string","description":"the 26 letters and digits of its name"},` +
	`"lines":{"type":"string","description":"only these lines, counted from 1: A-B, A-, -B or A"},` +
	`"grep":{"type":"string","description":"only lines that match this regular expression, each with its number in front"},` +
	`"from":{"type":"integer","description":"of what lines ask for, or of all, begin behind so many bytes: for long lines"},` +
	`"path":{"type":"string","description":"of JSON only what lies at this path, as in items.0.name or items.#.id"}},` +
	`"required":["artifact"]}`

// Answer answers a call of the tool recall with these arguments, which are JSON as a model wrote it. What is wrong is
// what it answers.
func Answer(artifacts Artifacts, arguments string) string {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	var in recallInput
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return "[epitome: the arguments are none of this tool's: give artifact, and lines, grep or path, as texts]"
	}
	text, err := reader{artifacts}.recall(ctx, in)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "[epitome: this takes too long; ask for fewer lines, or for a simpler expression]"
	case err != nil:
		return "[epitome: " + strings.ToValidUTF8(err.Error(), "") + "]"
	case text == "":
		return "[epitome: there is nothing in it]"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
