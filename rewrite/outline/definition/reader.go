// Package definition finds the lines of a file that define something: functions and types, headings, settings, targets.
//
// It promises that a line ranks by itself, by the line behind it, and by whether it stands in a fenced block, and that
// its time grows with the lines and no faster.
package definition

import (
	"path"
	"strings"
)

// Reader finds lines that define something in files of one family of languages. It is for one file.
type Reader struct {
	defines func(line string, indent int) int // 1 to 3; 0 if it defines nothing; nil if it reads the indentation alone
	fences  bool                              // text between lines of ``` is no heading
	fenced  bool                              // the line stands in such text
}

// ByIndentation returns a reader that knows nothing but that what belongs to a line is indented.
func ByIndentation() *Reader { return &Reader{} }

// Rank returns how much a line defines: 1 is most, 3 is least, 0 is nothing. Lines are asked for in their order; next
// is the one behind it.
func (r *Reader) Rank(line, next string) int {
	bare := strings.TrimSpace(line)
	if bare == "" || len(line) > 400 {
		return 0
	}
	if r.fences && strings.HasPrefix(bare, "```") {
		r.fenced = !r.fenced
		return 0
	}
	if r.fenced {
		return 0
	}
	indent := indentOf(line)
	if r.defines == nil {
		return rankOfIndented(bare, indent, indentOf(next))
	}
	return r.defines(bare, indent)
}

// rankOfIndented ranks a line by what is indented under it.
func rankOfIndented(bare string, indent, next int) int {
	if next <= indent || strings.ContainsRune("})]#*/<", rune(bare[0])) && bare[0] != '<' || indent > 8 {
		return 0
	}
	return 1 + min(2, (indent+3)/4)
}

// indentOf returns the columns of white space at the beginning of a line.
func indentOf(line string) (columns int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4
		default:
			return columns
		}
	}
	return columns
}

// ReaderOf returns how a file of this name is read; nil if it is no source.
func ReaderOf(file string) *Reader {
	name := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	ending := path.Ext(name)
	if ending == "" {
		ending = name
	}
	switch ending {
	case ".go", ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".rs", ".java", ".kt", ".kts",
		".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".cs", ".rb", ".php", ".swift", ".scala", ".dart", ".lua", ".ex",
		".exs", ".erl", ".hs", ".ml", ".jl", ".r", ".m", ".mm", ".groovy", ".gradle", ".proto", ".graphql", ".tf", ".sol",
		".zig", ".nim", ".pl", ".pm", ".v", ".sv", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmake", ".vue",
		".svelte", ".astro", ".cu", ".fs", ".clj", ".prisma", ".thrift", ".el", ".vim":
		return &Reader{defines: definesCode}
	case ".md", ".mdx", ".markdown", ".rst", ".adoc", ".qmd":
		return &Reader{defines: definesHeading, fences: true}
	case ".css", ".scss", ".less", ".sass":
		return &Reader{defines: definesStyle}
	case ".sql", ".ddl", ".psql":
		return &Reader{defines: definesTable}
	case ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".env":
		return &Reader{defines: definesSetting}
	case "makefile", ".mk", "dockerfile", ".dockerfile", "justfile":
		return &Reader{defines: definesTarget}
	case ".json", ".jsonc", ".json5", ".html", ".htm", ".xml", ".xhtml", ".svg", ".xsd", ".csproj", ".plist", ".tmpl", ".hbs",
		".j2", ".ejs", ".jinja":
		return ByIndentation()
	}
	return nil
}
