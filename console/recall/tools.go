package recall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/internal/lazyregexp"
	"epitome/rewrite/excerpt"
)

// reader answers calls.
type reader struct{ artifacts Artifacts }

type recallInput struct {
	Artifact string `json:"artifact" jsonschema:"the artifact: its 26 letters and digits, or the path or URL that ends with them"`
	Lines    string `json:"lines,omitempty" jsonschema:"only these lines, counted from 1: A-B, A-, -B or A"`
	Grep     string `json:"grep,omitempty" jsonschema:"only lines that match this regular expression, each with its number in front"`
	From     int    `json:"from,omitempty" jsonschema:"of what lines ask for, or of all, begin behind so many bytes: for long lines"`
	Path     string `json:"path,omitempty" jsonschema:"of JSON only what lies at this path, as in items.0.name or items.#.id"`
}

// recall reads an artifact, or a part of it.
func (r reader) recall(ctx context.Context, in recallInput) (string, error) {
	content, _, err := r.open(ctx, in.Artifact)
	if err != nil {
		return "", err
	}
	defer func() { _ = content.Close() }()
	if in.Path != "" {
		if in.Lines != "" || in.Grep != "" || in.From != 0 {
			return "", errors.New("give path alone, or lines and grep")
		}
		return atPath(content, in.Path)
	}
	choose, err := r.artifacts.Lines(in.Lines, in.Grep)
	if err != nil {
		return "", err
	}
	if in.From < 0 || in.From > 0 && in.Grep != "" {
		return "", errors.New("give from with lines, or alone: as many bytes as you have read")
	}
	p := page{room: mostAnswer, skip: in.From, skipped: in.From}
	if err = found(choose, content, &p, in.Grep); err != nil {
		return "", err
	}
	return p.text(in.Lines, in.Grep), nil
}

// found copies what is chosen to a page. Of long lines that match an expression it has what is around the matches.
func found(choose func(io.Reader, io.Writer) error, from io.Reader, p *page, grep string) error {
	if grep == "" {
		return unlessFull(choose(from, p))
	}
	expression, err := regexp.Compile(grep) // which choose has read before
	if err != nil {
		return err
	}
	n := &narrow{to: p, grep: expression}
	if err = choose(from, n); err == nil && len(n.line) > 0 {
		err = n.end()
	}
	return unlessFull(err)
}

// unlessFull is an error that says more than that there is no room.
func unlessFull(err error) error {
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// atPath is what lies at a path of a JSON content.
func atPath(content io.Reader, at string) (string, error) {
	const longestPath = 256 // bytes
	all, err := io.ReadAll(io.LimitReader(content, mostJSON+1))
	switch {
	case err != nil:
		return "", err
	case len(at) > longestPath:
		return "", fmt.Errorf("the path has %d bytes; give at most %d", len(at), longestPath)
	case len(all) > mostJSON:
		return "", fmt.Errorf("it is too large to look for a path in: give lines or grep")
	case !json.Valid(all): // it follows no depth without end, as others do
		return "", errors.New("it is no JSON as a whole: give lines or grep instead of path")
	}
	found := gjson.GetBytes(all, at)
	if !found.Exists() {
		found = gjson.GetBytes(all, dotted(at))
	}
	if !found.Exists() {
		return "", fmt.Errorf("nothing lies at path %q; %s", at, topOf(gjson.ParseBytes(all)))
	}
	text := found.Raw
	if found.Type == gjson.String {
		text = found.Str
	}
	if len(text) > mostAnswer {
		return whole(text[:mostAnswer]) + fmt.Sprintf("\n[epitome: the first %d of %d bytes are above; give a longer path]",
			mostAnswer, len(text)), nil
	}
	return text, nil
}

// dotted is a path as epitome's own notes and tools like jq write it, .data[57].id, with dots alone.
func dotted(at string) string {
	at = strings.NewReplacer("[", ".", "]", "", `"`, "", "'", "").Replace(strings.TrimPrefix(at, "$"))
	return strings.TrimPrefix(at, ".")
}

// topOf says what a value has at its top.
func topOf(v gjson.Result) string {
	switch {
	case v.IsArray():
		return fmt.Sprintf("it is a list of %s items: begin with #, or with a number", v.Get("#").Raw)
	case !v.IsObject():
		return "it is one value: leave path out"
	}
	var keys []string
	v.ForEach(func(key, _ gjson.Result) bool {
		keys = append(keys, fmt.Sprintf("%.60s", key.Str))
		return len(keys) < 40
	})
	return "its keys are " + strings.Join(keys, ", ")
}

type searchInput struct {
	Artifact string `json:"artifact" jsonschema:"the artifact: its 26 letters and digits, the path or URL that ends with them, or the first 16 or more and a *"`
	Pattern  string `json:"pattern" jsonschema:"a regular expression, as Go has them"`
}

// search looks into an artifact and those that it names.
func (r reader) search(ctx context.Context, in searchInput) (string, error) {
	if in.Pattern == "" {
		return "", errors.New("give a pattern")
	}
	choose, err := r.artifacts.Lines("", in.Pattern)
	if err != nil {
		return "", err
	}
	names, err := r.reach(ctx, in.Artifact)
	if err != nil {
		return "", err
	}
	const mostOfOne = mostAnswer / 4
	var b strings.Builder
	looked := 0
	for _, name := range names {
		if b.Len() >= mostAnswer {
			fmt.Fprintf(&b, "[epitome: %d more artifacts were not searched; search one of them by its name]\n", len(names)-looked)
			break
		}
		looked++
		content, _, err := r.open(ctx, name)
		if err != nil {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			continue // it is named, and expired or never was
		}
		p := page{room: mostOfOne}
		err = found(choose, content, &p, in.Pattern)
		_ = content.Close()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil { // none of its lines matches
			continue
		}
		for line := range strings.Lines(p.text("", in.Pattern)) {
			if !strings.HasPrefix(line, "[epitome: ") {
				b.WriteString(name + ":")
			}
			b.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("[epitome: no line matches, in %d artifacts]", looked), nil
	}
	return b.String(), nil
}

type oneInput struct {
	Artifact string `json:"artifact" jsonschema:"the artifact: its 26 letters and digits, or the path or URL that ends with them"`
}

// outline says what an artifact has.
func (r reader) outline(ctx context.Context, in oneInput) (string, error) {
	content, size, err := r.open(ctx, in.Artifact)
	if err != nil {
		return "", err
	}
	defer func() { _ = content.Close() }()
	all, err := io.ReadAll(io.LimitReader(content, mostScan))
	if err != nil {
		return "", err
	}
	text := string(all)
	head := fmt.Sprintf("[epitome: %d bytes, %d lines]\n", size, strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1)
	if size > mostScan {
		head = fmt.Sprintf("[epitome: %d bytes; of the first %d:]\n", size, mostScan)
	}
	const tokens, bytesPerToken = 1500, 4
	count := func(s string) int { return len(s)/bytesPerToken + 1 }
	if laidOut, ok := excerpt.LaidOut(text); ok {
		text = laidOut
	}
	short, omitted := excerpt.Lines(text, tokens, count)
	if omitted == 0 {
		return head + whole(text[:min(len(text), mostAnswer)]), nil
	}
	return head + short, nil
}

// list lists what an artifact names.
func (r reader) list(ctx context.Context, in oneInput) (string, error) {
	names, err := r.reach(ctx, in.Artifact)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	there := 0
	for _, name := range names[1:] {
		if there >= mostListed {
			b.WriteString("[epitome: it names more; search finds what is in them]\n")
			break
		}
		content, size, err := r.open(ctx, name)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			continue
		}
		first := make([]byte, 200)
		n, _ := io.ReadFull(content, first)
		_ = content.Close()
		line, _, _ := bytes.Cut(first[:n], []byte("\n"))
		fmt.Fprintf(&b, "%s: %d bytes, begins %s\n", name, size, strconv.Quote(whole(string(line))))
		there++
	}
	if there == 0 {
		return "[epitome: it names no artifact that can be read]", nil
	}
	return b.String(), nil
}

// letterShape is some letters of a name.
var letterShape = lazyregexp.New(`^[a-z2-7]{1,25}$`)

var nameShape = lazyregexp.New(`\b[a-z2-7]{26}\b`)

// reach are the artifact and those that its text names, each once.
func (r reader) reach(ctx context.Context, artifact string) ([]string, error) {
	content, _, err := r.open(ctx, artifact)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	text, err := io.ReadAll(io.LimitReader(content, mostScan))
	if err != nil {
		return nil, err
	}
	first, err := r.nameOf(artifact)
	if err != nil {
		return nil, err
	}
	names, seen := []string{first}, map[string]bool{first: true}
	for _, found := range nameShape().FindAll(text, -1) {
		if name := string(found); !seen[name] && len(names) <= mostNamed {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// nameIn is the name in a path or URL that ends with it.
func nameIn(text string) string {
	text, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "artifact "), "?")
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(text, `\`, "/")), ".txt")
}

// leastLetters is how many letters a pattern has. They are as good as the name: five bits each, 80 in all, cannot be
// guessed however often somebody asks.
const leastLetters = 16

// nameOf is the name that is given, or the one that begins as a pattern says.
func (r reader) nameOf(artifact string) (string, error) {
	name := nameIn(artifact)
	letters, isPattern := strings.CutSuffix(name, "*")
	switch {
	case isPattern && letterShape().MatchString(letters):
		if len(letters) < leastLetters {
			return "", fmt.Errorf("give at least %d letters and digits of the name before the *", leastLetters)
		}
		names, err := r.artifacts.Beginning(letters)
		if err != nil {
			return "", err
		}
		if len(names) != 1 {
			return "", fmt.Errorf("%d artifacts begin with %s: give the whole name", len(names), letters)
		}
		return names[0], nil
	case name == "" || nameShape().FindString(name) != name:
		return "", fmt.Errorf("%.60q names no artifact: give the 26 letters and digits that epitome's text names", artifact)
	}
	return name, nil
}

// open opens an artifact. It can be read until ctx ends.
func (r reader) open(ctx context.Context, artifact string) (io.ReadCloser, int64, error) {
	name, err := r.nameOf(artifact)
	if err != nil {
		return nil, 0, err
	}
	content, size, err := r.artifacts.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return bounded{ctx, content}, size, nil
}

// bounded is a content that can be read until a time is over.
type bounded struct {
	ctx context.Context //nolint:containedctx // it lives as long as one answer
	io.ReadCloser
}

func (b bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}
