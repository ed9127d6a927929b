package outline

import (
	"path"
	"strings"
)

// Shares of what an outline of a file may take, in hundredths.
const (
	headShare = 35
	tailShare = 10
	defsShare = 45 // at most
)

// leastSource is how many lines a file must have for an outline of it.
const leastSource = 40

// ofSource shows the head and the tail of a file, and between them the lines that define something, whole.
func ofSource(text, file string, keep int, count func(string) int) (o Outline, ok bool) {
	read, p := readerOf(file), (*page)(nil)
	if read != nil {
		p = newPage(text, count)
	}
	if p == nil || p.lines() < leastSource {
		return o, false
	}
	n := numbering(p)
	p.bare = n != ""
	ranks := n.ranks(p, read)
	if len(ranks[0])+len(ranks[1])+len(ranks[2]) < 3 {
		if ranks = n.ranks(p, &reader{indented: true}); len(ranks[0]) < 3 {
			return o, false
		}
	}
	o = Outline{Kind: Source, Numbered: p.bare}
	o.Text = p.show(keep, func() {
		all := p.left
		p.takeFrom(0, all*headShare/100)
		p.takeTail(all * tailShare / 100)
		defs := all * defsShare / 100
		for _, list := range ranks {
			before := p.left
			p.takeSpread(list, defs)
			defs -= before - p.left
		}
		p.takeFrom(0, p.left)
	})
	return o, o.Text != ""
}

// numbers is what stands behind the number of each line; empty if the lines have none.
type numbers string

// numbering returns how the lines are numbered, as tools do that read files.
func numbering(p *page) numbers {
	votes := map[numbers]int{}
	const most = 60
	looked := 0
	for i := 0; i < p.lines() && looked < most; i++ {
		line := strings.TrimLeft(p.bareLine(i), " ")
		if line == "" {
			continue
		}
		looked++
		digits := countDigits(line)
		if digits == 0 {
			continue
		}
		for _, sep := range [...]numbers{"→", "\t", ":", "|", " |"} {
			if strings.HasPrefix(line[digits:], string(sep)) {
				votes[sep]++
			}
		}
	}
	for _, sep := range [...]numbers{"→", "\t", ":", "|", " |"} {
		if looked > 0 && votes[sep]*10 >= looked*8 {
			return sep
		}
	}
	return ""
}

// countDigits returns how many digits a text begins with.
func countDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// strip returns what a line says without its number.
func (n numbers) strip(line string) string {
	if n == "" {
		return line
	}
	at := len(line) - len(strings.TrimLeft(line, " "))
	digits := countDigits(line[at:])
	if digits == 0 || !strings.HasPrefix(line[at+digits:], string(n)) {
		return line
	}
	return line[at+digits+len(n):]
}

// ranks returns the lines that define something: the most important ones, those in them, and those in those.
func (n numbers) ranks(p *page, read *reader) (ranks [3][]int) {
	r := *read
	for i := range p.lines() {
		line := n.strip(p.bareLine(i))
		if r.indented && i+1 < p.lines() {
			r.next = n.strip(p.bareLine(i + 1))
		}
		if rank := r.rank(line); rank > 0 {
			ranks[rank-1] = append(ranks[rank-1], i)
		}
	}
	return ranks
}

// reader finds lines that define something in files of one family of languages.
type reader struct {
	defines  func(line string, indent int) int // 1 to 3; 0 if it defines nothing
	fences   bool                              // text between lines of ``` is no heading
	indented bool                              // nothing is known but that what belongs to a line is indented

	fenced bool
	next   string
}

// rank returns how much a line defines: 1 is most, 0 is nothing.
func (r *reader) rank(line string) int {
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
	if r.indented {
		return rankOfIndented(bare, indent, indentOf(r.next))
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

// readerOf returns how a file of this name is read; nil if it is no source.
func readerOf(file string) *reader {
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
		return &reader{defines: definesCode}
	case ".md", ".mdx", ".markdown", ".rst", ".adoc", ".qmd":
		return &reader{defines: definesHeading, fences: true}
	case ".css", ".scss", ".less", ".sass":
		return &reader{defines: definesStyle}
	case ".sql", ".ddl", ".psql":
		return &reader{defines: definesTable}
	case ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".env":
		return &reader{defines: definesSetting}
	case "makefile", ".mk", "dockerfile", ".dockerfile", "justfile":
		return &reader{defines: definesTarget}
	case ".json", ".jsonc", ".json5", ".html", ".htm", ".xml", ".xhtml", ".svg", ".xsd", ".csproj", ".plist", ".tmpl", ".hbs",
		".j2", ".ejs", ".jinja":
		return &reader{indented: true}
	}
	return nil
}
