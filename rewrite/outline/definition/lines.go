package definition

import "strings"

// isModifier reports whether a word may stand before the one that defines.
func isModifier(word string) bool {
	switch word {
	case "export", "default", "async", "public", "private", "protected", "internal", "static", "final",
		"abstract", "pub", "pub(crate)", "pub(super)", "unsafe", "extern", "override", "open", "sealed", "data",
		"inline", "virtual", "declare", "readonly", "suspend", "partial", "mutating", "lazy", "synchronized",
		"native", "companion", "annotation", "tailrec", "operator", "infix", "actual", "expect", "external",
		"fileprivate", "constexpr", "explicit", "friend", "required", "convenience", "indirect", "local",
		"global", "case", "value", "implicit", "transparent", "@objc", "@MainActor", "@Override":
		return true
	}
	return false
}

// isDefiner reports whether a word defines what is named behind it.
func isDefiner(word string) bool {
	switch word {
	case "func", "function", "function*", "fn", "def", "class", "struct", "enum", "interface", "trait",
		"impl", "type", "module", "mod", "namespace", "fun", "object", "protocol", "extension", "record",
		"union", "package", "macro_rules!", "typedef", "defmodule", "defp", "defmacro", "defimpl", "sub", "proc",
		"procedure", "resource", "variable", "output", "provider", "message", "service", "rpc", "contract",
		"library", "event", "schema", "input", "scalar", "actor", "typealias", "template", "newtype", "instance":
		return true
	}
	return false
}

// isBinding reports whether a word gives a value a name.
func isBinding(word string) bool {
	switch word {
	case "const", "let", "var", "val", "static", "global":
		return true
	}
	return false
}

// isControl reports whether a word begins a statement.
func isControl(word string) bool {
	switch word {
	case "if", "for", "while", "switch", "catch", "else", "return", "do", "try", "case", "throw", "new",
		"await", "yield", "assert", "defer", "go", "select", "with", "when", "match", "loop", "elif", "elsif",
		"except", "finally", "using", "lock", "foreach", "unless", "until", "raise", "print", "echo", "delete",
		"typeof", "void", "import", "from", "require", "include", "not", "and", "or", "in", "is":
		return true
	}
	return false
}

// definesCode ranks a line of a programming language.
func definesCode(line string, indent int) int {
	if isAside(line) || indent > 12 {
		return 0
	}
	rest, modified := line, false
	for {
		word, after, _ := strings.Cut(rest, " ")
		if !isModifier(word) {
			break
		}
		rest, modified = strings.TrimLeft(after, " "), true
	}
	word := leadingWord(rest)
	switch {
	case isDefiner(word) && isDefinition(rest, word):
		return 1 + min(2, indent/4)
	case isBinding(word):
		return rankOfBinding(rest, indent, modified)
	case indent == 0 && (strings.HasPrefix(rest, "if __name__") || isTestBlock(rest)):
		return 1
	case isTestBlock(rest):
		return 2
	case isControl(word):
		return 0
	case isCallable(rest, modified):
		return 1 + min(2, indent/4)
	}
	return 0
}

// isAside reports whether a line is a comment, or only ends something.
func isAside(line string) bool {
	switch line[0] {
	case '}', ')', ']', '*', '.', ',', '"', '\'', '`', '<', '{', '(', '+', '-', '=', '&', '|', '?', ':':
		return true
	case '#':
		return !strings.HasPrefix(line, "#define ")
	case '/':
		return true
	case '@':
		return !strings.Contains(line, " ")
	}
	return false
}

// leadingWord returns the word that a line begins with.
func leadingWord(line string) string {
	n := 0
	for n < len(line) && isWordByte(line[n]) {
		n++
	}
	if n < len(line) && (line[n] == '!' || line[n] == '*') {
		n++
	}
	return line[:n]
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// isDefinition reports whether a word that defines is used so, and is not the name of something else.
func isDefinition(line, word string) bool {
	rest := line[len(word):]
	if rest == "" || rest[0] != ' ' && rest[0] != '<' && rest[0] != '(' && rest[0] != '\t' {
		return false
	}
	if rest[0] == '(' { // func (r *T) name, or a call of what is named so
		return word == "func" || word == "function"
	}
	rest = strings.TrimLeft(rest, " \t")
	return rest != "" && (isWordByte(rest[0]) || strings.IndexByte(`("<*&[{~@:`, rest[0]) >= 0) && !strings.HasPrefix(rest, "= ")
}

// rankOfBinding ranks a line that names a value: the outermost ones, and in them those that are functions.
func rankOfBinding(line string, indent int, modified bool) int {
	switch callable := strings.Contains(line, "=>") || strings.Contains(line, "function") ||
		strings.Contains(line, "Callback("); {
	case indent == 0:
		return 1
	case callable && indent <= 4, modified && indent <= 4:
		return 2
	}
	return 0
}

// isTestBlock reports whether a line begins a test, as they are written in JavaScript and Ruby.
func isTestBlock(line string) bool {
	for _, w := range [...]string{"describe", "it", "test", "context", "suite", "t.Run", "beforeEach", "afterEach", "specify"} {
		if strings.HasPrefix(line, w) && len(line) > len(w) && strings.IndexByte("( .", line[len(w)]) >= 0 &&
			strings.ContainsAny(line, "('\"") && !strings.HasPrefix(line[len(w):], " =") {
			return true
		}
	}
	return false
}

// isCallable reports whether a line begins a function without a word that says so.
func isCallable(line string, modified bool) bool {
	open := strings.IndexByte(line, '(')
	if open <= 0 || !isWordByte(line[open-1]) && line[open-1] != '>' && line[open-1] != ' ' && line[open-1] != '?' {
		return false
	}
	name := line[:open]
	if strings.ContainsAny(name, "=\"'`!+-;") && !strings.Contains(name, "operator") {
		return false
	}
	last := line[len(line)-1]
	switch {
	case last == ';' || last == ',' && !modified || strings.Contains(line, ")."): // a statement
		return false
	case last == '{' || strings.HasSuffix(line, "=> {"):
		return !strings.Contains(name, ".")
	case modified:
		return true
	case last == ')' || last == ':':
		return strings.Contains(strings.TrimSpace(name), " ") && !strings.Contains(name, ".")
	}
	return strings.HasSuffix(line, "() {}") || strings.HasPrefix(line[open:], "() {")
}

// definesHeading ranks a line of Markdown.
func definesHeading(line string, indent int) int {
	n := 0
	for n < len(line) && (line[n] == '#' || line[n] == '=') {
		n++
	}
	if n == 0 || n > 6 || indent > 3 || n == len(line) || line[n] != ' ' {
		return 0
	}
	return min(3, max(1, n-1))
}

// definesStyle ranks a line of CSS.
func definesStyle(line string, indent int) int {
	if !strings.HasSuffix(line, "{") && !strings.HasPrefix(line, "@") {
		return 0
	}
	return 1 + min(2, indent/2)
}

// definesTable ranks a line of SQL.
func definesTable(line string, indent int) int {
	word, _, _ := strings.Cut(strings.ToUpper(line[:min(len(line), 40)]), " ")
	switch word {
	case "CREATE", "ALTER", "DROP":
		return 1 + min(1, indent)
	case "INSERT", "UPDATE", "DELETE", "SELECT", "WITH", "BEGIN", "BEGIN;", "COMMIT", "COMMIT;", "GRANT":
		if indent == 0 {
			return 2
		}
	}
	return 0
}

// definesSetting ranks a line of YAML, TOML and their like.
func definesSetting(line string, indent int) int {
	switch {
	case line[0] == '#' || line[0] == ';':
		return 0
	case line[0] == '[':
		return 1
	case strings.HasSuffix(line, ":") && indent <= 4:
		return 1 + min(2, (indent+1)/2)
	case strings.HasPrefix(line, "- name:") || strings.HasPrefix(line, "kind:") || strings.HasPrefix(line, "name:"):
		return 2
	case indent == 0 && strings.ContainsAny(line, ":="):
		return 2
	}
	return 0
}

// definesTarget ranks a line of a file for make, docker or just.
func definesTarget(line string, indent int) int {
	if indent > 0 || line[0] == '#' {
		return 0
	}
	word, _, _ := strings.Cut(line, " ")
	switch {
	case word == "FROM" || strings.HasPrefix(word, ".") || strings.HasSuffix(word, ":") || strings.Contains(line, ": "):
		return 1
	case strings.ToUpper(word) == word || strings.Contains(line, "="):
		return 2
	}
	return 0
}
