package plan

import "strings"

// Content is what a text that was taken out is made of, for whoever is told how to get at it.
type Content struct {
	Lines  int
	Tokens int
	File   string // the agent's own file that holds the same; empty if none does
	// Readable is the artifact with the same for a reader of lines; empty if there is none.
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

// ReadAtOnce is how many tokens an artifact may have so that a model need not be told to search it.
func ReadAtOnce(p *Plan) int {
	const most = 2_000
	return min(most, max(p.Limits.Recall, 1))
}

// Advice says where an artifact is, and how to read on: by path, by URL or by a tool, as the client has it.
func (p *Plan) Advice(name string, c Content) string {
	at, lead, beside := AddressOf(p, name), "Full output: ", ""
	if c.File != "" {
		lead = "Read " + c.File + " again. As it was then: "
	}
	switch {
	case at == "" && c.File != "":
		return "Read " + c.File + " again. " + keptAs(name)
	case at == "":
		return keptAs(name)
	case c.File == "" && !IsURL(at) && p.Case.IsUnread():
		return "Kept in " + at + Unread
	case c.Readable != "":
		beside = " (as it came" + words(", with ", c.Media) + ": " + at + ")"
		at = AddressOf(p, c.Readable)
	case c.InParts:
		beside = " (JSON)"
	}
	return lead + at + p.howToRead(at, c.Tokens) + beside
}

// howToRead says how to read what lies at an address and has so many tokens.
func (p *Plan) howToRead(at string, tokens int) string {
	isShort := tokens <= ReadAtOnce(p)
	switch {
	case p.Case.ByTool && isShort:
		return "; read it with " + Tool
	case p.Case.ByTool:
		return "; grep it or read a range with " + Tool
	case isShort:
		return ""
	case IsURL(at):
		return "; fetch it and search it"
	}
	return "; grep it or read a range"
}

// IsURL reports whether an address is one that is fetched, and no path of a file.
func IsURL(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

// Unread stands behind a path for a model that has no tool for it.
const Unread = ", which none of your tools is known to read"

// keptAs stands in the place of directions where no address can be given.
func keptAs(name string) string {
	return "Kept as artifact " + name + ", which you cannot read from here"
}
