//go:build ignore

// Make writes the texts that "epitome bench tokens" counts, into its own folder:
//
//	cd bench/samples && go run make.go words.go
//
// Code and prose are this repository's own as it stands; the others are put together at random from its words and from
// the lists here, the same for the same tree. They are not made again with each change of the code: what they hold
// need not be new, and figures are compared with earlier ones.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	root = "../.."
	size = 150 << 10 // bytes of a made sample, about
)

func main() {
	tree, err := read("proxy", "scripted", "bench", "console", "event", "unit", "sdk", "tokenize", ".")
	if err != nil {
		log.Fatal(err)
	}
	m := &maker{rng: rand.New(rand.NewPCG(1, 2)), tree: tree, words: tree.words()}
	write("code", m.code())
	write("prose", m.prose())
	write("log", m.fill(m.testRun, m.listing, m.grep, m.packages, m.build))
	write("json", m.fill(m.apiAnswer))
	write("json_compact", m.fill(m.chat))
	cjk := []speech{chinese(), japanese(), korean()}
	write("cjk", m.fill(func() string { return m.paragraph(cjk[m.rng.IntN(3)]) }))
}

func write(name, text string) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write([]byte(text))
	}
	if err = errors.Join(err, z.Close()); err == nil {
		err = os.WriteFile(name+".txt.gz", packed.Bytes(), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(name, len(text))
}

// source is the repository's files, in a fixed order.
type source []file

type file struct{ path, text string }

func read(folders ...string) (source, error) {
	var all source
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.*"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if !slices.Contains([]string{".go", ".md", ".toml"}, filepath.Ext(path)) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			all = append(all, file{filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root+"/"))),
				string(text)})
		}
	}
	return all, nil
}

// words returns the words that names and comments are made of, each as often as it stands there.
func (s source) words() []string {
	var words []string
	for _, f := range s {
		text := strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ").Replace(f.text)
		words = append(words, regexp.MustCompile(`[A-Z]?[a-z]{2,}`).FindAllString(text, -1)...)
	}
	return words
}

// maker puts texts together. Its methods take what they need from rng, in order.
type maker struct {
	rng   *rand.Rand
	tree  source
	words []string
}

// fill calls the makers at random until there is enough.
func (m *maker) fill(makers ...func() string) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(makers[m.rng.IntN(len(makers))]())
	}
	return b.String()
}

// code returns Go as it stands, file behind file, without tests.
func (m *maker) code() string {
	var b strings.Builder
	for _, f := range m.tree {
		if strings.HasSuffix(f.path, ".go") && !strings.HasSuffix(f.path, "_test.go") && b.Len() < size {
			b.WriteString(f.text)
		}
	}
	return b.String()
}

// prose returns the documents without their code, and then what the comments of the code say in whole sentences,
// unwrapped.
func (m *maker) prose() string {
	var b strings.Builder
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		paths, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				log.Fatal(err)
			}
			b.WriteString(unwrap(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(text), "")))
		}
	}
	comment := regexp.MustCompile(`(?m)(?:^\s*(?://|#)(?: .*)?\n)+`)
	for _, f := range m.tree {
		for _, c := range comment.FindAllString(f.text, -1) {
			c = regexp.MustCompile(`(?m)^\s*(//|#) ?`).ReplaceAllString(c, "")
			if strings.HasSuffix(strings.TrimSpace(c), ".") && len(c) > 60 && b.Len() < size {
				b.WriteString(unwrap(c) + "\n")
			}
		}
	}
	return b.String()
}

// unwrap joins the lines of each paragraph that is not a list or a table.
func unwrap(text string) string {
	return regexp.MustCompile(`([\pL,;:.])\n([\pL(])`).ReplaceAllString(text, "$1 $2")
}

func (m *maker) word() string { return m.words[m.rng.IntN(len(m.words))] }

func (m *maker) pick(s ...string) string { return s[m.rng.IntN(len(s))] }

func (m *maker) join(n int, sep string) string {
	words := make([]string, n)
	for i := range words {
		words[i] = m.word()
	}
	return strings.Join(words, sep)
}

func (m *maker) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.rng.Uint32())
	}
	return hex.EncodeToString(b)
}

func (m *maker) time() time.Time {
	return time.Unix(1_600_000_000+m.rng.Int64N(150_000_000), m.rng.Int64N(1e9)).UTC()
}

func (m *maker) path() string {
	return strings.ToLower(m.join(1+m.rng.IntN(3), "/")) + "/" + m.word() + m.pick(".go", ".ts", ".py", ".rs",
		"_test.go", ".json", ".md", ".css", ".yaml", ".proto")
}

// line returns a line of the repository that is not empty, and where it stands.
func (m *maker) line() (path string, number int, text string) {
	for {
		f := m.tree[m.rng.IntN(len(m.tree))]
		lines := strings.Split(f.text, "\n")
		n := m.rng.IntN(len(lines))
		if strings.TrimSpace(lines[n]) != "" {
			return f.path, n + 1, lines[n]
		}
	}
}

// excerpt returns some lines of the repository in a row.
func (m *maker) excerpt(most int) string {
	lines := strings.SplitAfter(m.tree[m.rng.IntN(len(m.tree))].text, "\n")
	from := m.rng.IntN(len(lines))
	return strings.Join(lines[from:min(len(lines), from+5+m.rng.IntN(most))], "")
}

// paragraph returns some sentences of a language.
func (m *maker) paragraph(s speech) string {
	var b strings.Builder
	for range 3 + m.rng.IntN(6) {
		for _, r := range s.plans[m.rng.IntN(len(s.plans))] {
			if words, ok := s.lists[r]; ok {
				b.WriteString(words[m.rng.IntN(len(words))])
			} else {
				b.WriteRune(r)
			}
		}
		b.WriteString(s.behind)
	}
	return b.String() + "\n\n"
}

// testRun returns what a test command prints, with passes, failures and timings.
func (m *maker) testRun() string {
	var b strings.Builder
	pkg := strings.ToLower(m.join(2, "/"))
	for range 5 + m.rng.IntN(20) {
		name := "Test" + m.word() + m.word() + m.pick("", "", "/"+m.join(2, "_"))
		seconds := m.rng.ExpFloat64() / 3
		fmt.Fprintf(&b, "=== RUN   %s\n", name)
		switch m.rng.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "    %s_test.go:%d: got %q, want %q (%s)\n--- FAIL: %s (%.2fs)\n",
				strings.ToLower(m.word()), m.rng.IntN(900), m.join(2, " "), m.join(3, " "), m.hex(6), name, seconds)
		case 1:
			fmt.Fprintf(&b, "%s %s [%s] %s id=%s took=%s\n", m.time().Format("2006-01-02T15:04:05.000Z"),
				m.pick("INFO", "WARN", "ERROR", "DEBUG"), strings.ToLower(m.word()), m.join(4+m.rng.IntN(6), " "),
				m.hex(8), time.Duration(m.rng.IntN(1e9)))
			fallthrough
		default:
			fmt.Fprintf(&b, "--- PASS: %s (%.2fs)\n", name, seconds)
		}
	}
	fmt.Fprintf(&b, "%s\t%s\t%.3fs\n", m.pick("ok  ", "FAIL"), pkg, m.rng.Float64()*20)
	return b.String()
}

// listing returns a folder as "ls -laR" shows it.
func (m *maker) listing() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n./%s:\ntotal %d\n", strings.ToLower(m.join(1+m.rng.IntN(3), "/")), m.rng.IntN(4000))
	for range 4 + m.rng.IntN(25) {
		mode := m.pick("-rw-r--r--", "-rw-r--r--", "-rwxr-xr-x", "drwxr-xr-x", "lrwxrwxrwx", "-rw-------")
		name := filepath.Base(m.path())
		if mode[0] == 'l' {
			name += " -> ../" + m.path()
		}
		fmt.Fprintf(&b, "%s %2d %s %s %8d %s %s\n",
			mode, 1+m.rng.IntN(9), m.pick("root", "build", "agent"), m.pick("root", "staff", "agent"),
			m.rng.IntN(1<<uint(6+m.rng.IntN(18))), m.time().Format("Jan _2 15:04"), name)
	}
	return b.String()
}

// grep returns what "grep -rn" finds in the repository.
func (m *maker) grep() string {
	var b strings.Builder
	for range 5 + m.rng.IntN(15) {
		path, number, text := m.line()
		fmt.Fprintf(&b, "%s:%d:%s\n", path, number, text)
	}
	return b.String()
}

// packages returns a list of what is installed.
func (m *maker) packages() string {
	var b strings.Builder
	for range 8 + m.rng.IntN(20) {
		name := strings.ToLower(m.pick("lib", "python3-", "golang-", "", "node-") + m.join(1+m.rng.IntN(2), "-"))
		version := fmt.Sprintf("%d.%d.%d%s", m.rng.IntN(12), m.rng.IntN(40), m.rng.IntN(20),
			m.pick("", "-1", "+dfsg-2", "-3ubuntu0.4", "~rc1-1", "-"+m.hex(3)))
		fmt.Fprintf(&b, "ii  %-30s %-20s %-6s %s\n",
			name, version, m.pick("amd64", "all", "arm64"), strings.ToLower(m.join(3+m.rng.IntN(5), " ")))
	}
	return b.String()
}

// build returns the commands of a build and what the compiler says.
func (m *maker) build() string {
	var b strings.Builder
	for i := range 4 + m.rng.IntN(12) {
		work := fmt.Sprintf("$WORK/b%03d", m.rng.IntN(900))
		switch m.rng.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "mkdir -p %s/\ncat >%s/importcfg << 'EOF' # internal\npackagefile %s=%s/%s-d\nEOF\n",
				work, work, m.path(), m.pick("/root/.cache", "/home/agent/.cache/build"), m.hex(20))
		case 1:
			fmt.Fprintf(&b, "[%d/%d] cc -O2 -g -Wall -I%s -D%s=%d -c %s -o %s/_x%03d.o\n",
				i+1, 40+i, m.path(), strings.ToUpper(m.word()), m.rng.IntN(9999), m.path(), work, i)
		default:
			fmt.Fprintf(&b, "%s:%d:%d: %s: %s '%s' [-W%s]\n", m.path(), m.rng.IntN(2000), m.rng.IntN(100),
				m.pick("error", "warning", "note"), m.join(4, " "), m.word(), strings.ToLower(m.join(2, "-")))
		}
	}
	return b.String()
}

// apiAnswer returns a page of objects with ids, URLs, times and nested objects, as an HTTP API gives it.
func (m *maker) apiAnswer() string {
	type object map[string]any
	var items []object
	for range 3 + m.rng.IntN(5) {
		id := m.rng.Int64N(3e9)
		login := strings.ToLower(m.word())
		items = append(items, object{
			"id": id, "node_id": m.hex(10), "number": m.rng.IntN(9000), "state": m.pick("open", "closed", "merged"),
			"title": m.join(4+m.rng.IntN(6), " "), "body": m.join(10+m.rng.IntN(30), " "),
			"html_url": fmt.Sprintf("https://git.example.com/%s/%s/issues/%d",
				login, strings.ToLower(m.word()), id%9000),
			"user": object{"login": login, "id": m.rng.IntN(1e8),
				"avatar_url": "https://avatars.example.com/u/" + m.hex(4) + "?v=4", "site_admin": m.rng.IntN(9) == 0},
			"labels": []object{{"name": strings.ToLower(m.word()), "color": m.hex(3), "default": true},
				{"name": m.join(2, " "), "color": m.hex(3), "default": false}},
			"metrics": object{"score": m.rng.Float64() * 100, "reactions": m.rng.IntN(50),
				"history": []int{m.rng.IntN(100), m.rng.IntN(1000), m.rng.IntN(100000)}},
			"milestone": nil, "locked": false, strings.ToLower(m.word()) + "_count": m.rng.IntN(1000),
			"created_at": m.time().Format(time.RFC3339), "updated_at": m.time().Format(time.RFC3339Nano),
		})
	}
	return indented(object{"total": m.rng.IntN(10000),
		"next": "https://git.example.com/api/v3/search?q=" + m.join(2, "+") + "&cursor=" + m.hex(12), "items": items})
}

// chat returns a conversation on one line whose tool results are logs, code and JSON.
func (m *maker) chat() string {
	type object map[string]any
	messages := []object{{"role": "user", "content": m.join(20, " ") + ".\n" + m.join(8, " ")}}
	for range 2 + m.rng.IntN(4) {
		id := "call_" + m.hex(12)
		arguments, _ := json.Marshal(object{"path": m.path(),
			"command": m.pick("cat", "go test ./...", "grep -rn "+m.word()), "limit": m.rng.IntN(400)})
		results := []func() string{m.testRun, m.grep, m.listing, m.build, func() string { return m.excerpt(60) },
			func() string { return m.excerpt(60) }}
		messages = append(messages,
			object{"role": "assistant", "content": m.join(6, " "),
				"tool_calls": []object{{"id": id, "type": "function",
					"function": object{"name": strings.ToLower(m.join(2, "_")), "arguments": string(arguments)}}}},
			object{"role": "tool", "tool_call_id": id, "content": results[m.rng.IntN(len(results))]()})
	}
	out, err := json.Marshal(object{"model": m.pick("gpt-5", "gpt-4o", "o3"), "stream": true, "messages": messages})
	if err != nil {
		log.Fatal(err)
	}
	return string(out) + "\n"
}

func indented(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		log.Fatal(err)
	}
	return b.String()
}
