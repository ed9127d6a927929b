package plan

import (
	"fmt"
	"strings"

	"epitome/rewrite/outline"
)

// Content is what a text that was taken out is made of, for whoever is told how to get at it.
type Content struct {
	Kind   outline.Kind // 0 if it has no structure that is known
	Lines  int
	Tokens int
	File   string // the agent's own file that holds the same; empty if none does
	// Numbered says that the lines have the numbers of that file.
	Numbered bool
	// Queryable says that it is JSON and nothing else.
	Queryable bool
	// Readable is the artifact with the same JSON, laid out for a reader of lines; empty if there is none. Of what is
	// InParts it has the texts, which all else here but Media is told of.
	Readable string
	InParts  bool   // it is a list of parts or the like, which is JSON as it came
	Media    string // pictures, sound and documents in it, in words; empty if there are none
}

// Tool is what stubs call the tool that reads artifacts, whatever name a client gives it.
const Tool = "epitome's tool recall"

// AddressOf says where to find an artifact, for whoever reads a stub; empty if nothing can be said.
func AddressOf(p *Plan, name string) string {
	if p.Case.ByTool {
		return "artifact " + name
	}
	return p.Shelf.Address(name)
}

// ReadAtOnce is how many tokens an artifact may have so that a model is told to read it, and not to search it.
func ReadAtOnce(p *Plan) int {
	const most = 2_000
	return min(most, max(p.Limits.Recall, 1))
}

// Advice says where an artifact is, and what can be done with what is in it. It never advises to read more than comes
// through when it is read back.
func (p *Plan) Advice(name string, c Content) string {
	at := AddressOf(p, name)
	if at == "" {
		return keptAs(name) + again(c.File)
	}
	if c.File == "" && !IsURL(at) && p.Case.IsUnread() {
		return keptIn(at)
	}
	if c.InParts {
		return adviceOnParts(p, at, c)
	}
	if p.Case.ByTool {
		return adviceByTool(p, at, c)
	}
	switch {
	case c.Readable != "" && IsURL(at):
		return fmt.Sprintf("Fetch it from %s and search it: there each value has a line. As it came, it is at %s",
			AddressOf(p, c.Readable), at)
	case c.Readable != "":
		return fmt.Sprintf("Search it in %s with grep, or read some of its lines: there each value has a line. "+
			"As it came, it is in %s, for jq", AddressOf(p, c.Readable), at)
	case c.Kind == outline.JSON && c.File != "" && c.Numbered:
		return fmt.Sprintf("Query %s with jq, or read the lines that you need from it, by their numbers. "+
			"As it was then, it is in %s, with the numbers before its lines", c.File, at)
	case c.Kind == outline.Source && c.File != "" && c.Numbered:
		return fmt.Sprintf("Read the lines that you need from %s, by their numbers. As it was then, it is in %s", c.File, at)
	case c.Kind == outline.Source && !IsURL(at):
		return "Read the lines that you need in " + at
	case c.File != "":
		return fmt.Sprintf("Read %s again. As it was then, it is in %s", c.File, at)
	}
	if c.Tokens <= ReadAtOnce(p) {
		return Directions(at)
	}
	if IsURL(at) {
		return "Fetch it from " + at + " and search it: it is long"
	}
	switch {
	case c.Queryable && c.Lines <= 1:
		return "Query it in " + at + " with jq"
	case c.Queryable:
		return "Query it in " + at + " with jq, or search it with grep"
	case c.Lines == 1:
		return "It is one long line in " + at + ". Read parts of it with cut -c"
	}
	return "Search it in " + at + " with grep, or read some of its lines"
}

// adviceByTool says what the tool can do with an artifact.
func adviceByTool(p *Plan, artifact string, c Content) string {
	switch {
	case c.Readable != "":
		return fmt.Sprintf("Search %s with %s, or read some of its lines: there each value has a line. As it came, it is %s",
			AddressOf(p, c.Readable), Tool, artifact)
	case c.File != "" && c.Numbered:
		return fmt.Sprintf("Read the lines that you need from %s, by their numbers. As it was then, %s reads it: %s",
			c.File, Tool, artifact)
	case c.Kind == outline.Source:
		return "Read the lines that you need of " + artifact + " with " + Tool
	case c.File != "":
		return fmt.Sprintf("Read %s again. As it was then, %s reads it: %s", c.File, Tool, artifact)
	case c.Tokens <= ReadAtOnce(p):
		return "Read " + artifact + " with " + Tool
	case c.Queryable:
		return "Give " + Tool + " a path in " + artifact + ", or grep"
	case c.Lines == 1:
		return "It is one long line. Search " + artifact + " with " + Tool
	}
	return "Search " + artifact + " with " + Tool + ", or read some of its lines"
}

// adviceOnParts says where a content is that lies as JSON at an address, and where its texts are.
func adviceOnParts(p *Plan, at string, c Content) string {
	in := "in "
	if IsURL(at) {
		in = "at "
	}
	if p.Case.ByTool {
		in = ""
	}
	switch {
	case c.Readable == "" && p.Case.ByTool:
		return strings.TrimPrefix(again(c.File)+". It is "+at+", as JSON", ". ")
	case c.Readable == "" && c.File != "":
		return fmt.Sprintf("Read %s again. As it was then, it is %s%s, as JSON", c.File, in, at)
	case c.Readable == "":
		return fmt.Sprintf("It is %s%s, as JSON", in, at)
	}
	texts := c
	texts.InParts, texts.Readable = false, ""
	return fmt.Sprintf("%s. As it came%s, it is %s%s, as JSON", p.Advice(c.Readable, texts),
		words(", with ", c.Media), in, at)
}

// IsURL reports whether an address is one that is fetched, and no path of a file.
func IsURL(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

// again advises to read a file of the agent's own; empty if there is none.
func again(file string) string {
	if file == "" {
		return ""
	}
	return ". Read " + file + " again"
}

// Directions says how to get a short text back.
func Directions(address string) string { return "Read it in " + address }

// keptIn stands in the place of directions where the model has nothing to follow them with.
func keptIn(path string) string { return "Kept in " + path + Unread }

// Unread stands behind a path for a model that has no tool for it.
const Unread = ", which none of your tools is known to read"

// keptAs stands in the place of directions where no address can be given.
func keptAs(name string) string {
	return "Kept as artifact " + name + ", which you cannot read from here"
}
