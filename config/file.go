package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"epitome/event"
	"epitome/internal/unit"
	"epitome/rewrite/ladder"
	"epitome/summarize"
)

// entry is the head of a table, or a key with its value, in a configuration file.
type entry struct {
	key     string // with the tables around it; of tables of one name, it has their number: routes.2.model
	header  string // the line with the table around it
	line    int    // the first, from 1
	text    string // all lines down to the next entry
	comment string // the lines above it that begin with "# "
}

// decode lays text over c: what it names is set, all else stays. It returns all mistakes. Each names its key.
func (c *Config) decode(file string, text []byte) (m mistakes) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors put a byte order mark there
	c.file, c.entries = file, entriesIn(string(text))
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return mistakes{located(file, err)}
	}
	// The preset sets numbers that the file's own numbers override, wherever they stand.
	rewrite, _ := all["rewrite"].(map[string]any) // values of another type are found below
	if preset, _ := rewrite["preset"].(string); preset != "" {
		m.check("rewrite.preset", c.Rewrite.SetPreset(preset))
	}
	c.Rewrite.LifeFixed = c.Rewrite.LifeFixed || rewrite["cache_life"] != nil
	sound := string(text)
	if decodeStrictly(sound, new(Config)) != nil { // the decoder ends at the first mistake, so each entry is tried
		sound = ""
		unknown := "\n" // no table; else one that has been told, with a dot behind it
		for _, e := range c.entries {
			if strings.HasPrefix(e.key, unknown) {
				continue
			}
			if err := decodeStrictly(e.header+"\n"+e.text, new(Config)); err != nil {
				m = append(m, c.explain(e.key, err))
				unknown = e.key + "."
			} else {
				sound += e.text
			}
		}
	}
	if err := decodeStrictly(sound, c); err != nil && m == nil {
		m.check(file, err)
	}
	return m
}

// decodeStrictly decodes TOML. An unknown key is an error.
func decodeStrictly(text string, into any) error {
	return toml.NewDecoder(strings.NewReader(text)).EnableUnmarshalerInterface().DisallowUnknownFields().Decode(into)
}

// located puts file and line in front of what the decoder says about the whole of a file.
func located(file string, err error) error {
	said := strings.NewReplacer("toml: ", "", "unexpected character U+000A at start of value", "a key has no value",
		"expected '=' after key", "expected '=' after key; quote a name with other signs than letters, digits, - and _")
	text := said.Replace(err.Error())
	wrong, _ := errors.AsType[*toml.DecodeError](err)
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		wrong = &unknown.Errors[0]
		key := strings.Join(wrong.Key(), ".")
		text = "unknown key " + key + suggestion(nil, key)
	}
	if wrong == nil {
		return fmt.Errorf("%s: %s", file, text)
	}
	line, _ := wrong.Position()
	return fmt.Errorf("%s:%d: %s", file, line, text)
}

// explain says what is wrong with a key that cannot be decoded.
func (c *Config) explain(key string, err error) error {
	all := knownIn(c.reference)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		path := unknown.Errors[0].Key()
		if name := path[len(path)-1]; !strings.Contains(key, name) { // it is in an inline table
			key += "." + name
		}
		return fmt.Errorf("unknown key %s%s", key, suggestion(all, key))
	}
	said := strings.TrimPrefix(err.Error(), "toml: ")
	found, isOther := strings.CutPrefix(said, "cannot decode TOML ")
	found, _, _ = strings.Cut(found, " into ") // the value's type
	list := choices[general(key)]
	switch {
	case isOther && list != nil, key == "log.level":
		said = "must be " + oneOf(list) + ", in quotes"
	case isOther && found == "table":
		said = "must not be a TOML table: put a name with a dot into quotes"
	case isOther:
		example, _, _ := strings.Cut(nearest(all, key).text, "\n")
		said = fmt.Sprintf("must not be a TOML %s: write it as in %s", found, example)
	}
	table, name := cutTable(key)
	if table != "" && nearest(all, key).key != key && nearest(all, name).key == name {
		said += "; if it is not meant for [" + strings.TrimSuffix(table, ".") + "], write it above all tables"
	}
	return fmt.Errorf("%s: %s", key, said)
}

// cutTable parts a key into the name of its table, with a dot at the end, and its own name.
func cutTable(key string) (table, name string) {
	at := strings.LastIndexByte(key, '.') + 1
	return key[:at], key[at:]
}

// place puts file and line in front of each mistake in err that names a key of the file, and sorts them. It leaves out
// those of a table with an unknown key: the table lacks what that key was meant for.
func (c *Config) place(err error) error {
	if err == nil {
		return nil
	}
	texts := make([]string, len(c.entries)+1) // by entry; the first is without one
	for text := range strings.SplitSeq(err.Error(), "\n") {
		at, longest := 0, ""
		for i, e := range c.entries {
			if len(e.key) > len(longest) && strings.Contains(text, e.key) {
				at, longest = i+1, e.key
			}
		}
		isTable := at > 0 && strings.HasPrefix(c.entries[at-1].text, "[")
		if isTable && strings.Contains(err.Error(), "unknown key "+longest+".") {
			continue
		}
		if at > 0 && !strings.HasPrefix(text, c.file+":") {
			text = fmt.Sprintf("%s:%d: %s", c.file, c.entries[at-1].line, text)
		}
		texts[at] += text + "\n"
	}
	return errors.New(strings.TrimSpace(strings.Join(texts, "")))
}

var (
	comment    = regexp.MustCompile(`(?m)^#([a-z[])`)                                       // of config.toml, for a key
	chosenName = regexp.MustCompile(`^(upstreams|clients|prices)\.("[^"]*"|'[^']*'|[^.]+)`) // with a name of the user's
	rowNumber  = regexp.MustCompile(`\.\d+`)
	behindList = regexp.MustCompile(`(?m)^(#   .*)\n# (\S)`) // text that goes on below a list
)

// entriesIn lists the entries of a file, up to a mistake in its syntax. Keys are as the file writes them.
func entriesIn(text string) (all []entry) {
	var p unstable.Parser
	p.Reset([]byte(text))
	lines := strings.SplitAfter(text, "\n")
	table, header, rows := "", "", map[string]int{}
	line, counted := 1, uint32(0)
	for p.NextExpression() {
		key := p.Expression().Key()
		key.Next()
		at := key.Node().Raw
		line += strings.Count(text[counted:at.Offset], "\n")
		counted = at.Offset
		name := string(p.Raw(at))
		for key.Next() {
			name += "." + string(p.Raw(key.Node().Raw))
		}
		kind := p.Expression().Kind
		if kind == unstable.KeyValue {
			all = append(all, entry{key: table + name, header: header, line: line})
			continue
		}
		if kind == unstable.ArrayTable {
			rows[name]++
			name = fmt.Sprintf("%s.%d", name, rows[name])
		}
		table, header = name+".", lines[line-1]
		all = append(all, entry{key: name, line: line})
	}
	end := len(lines)
	for i, e := range slices.Backward(all) {
		first := e.line - 1
		all[i].text = strings.Join(lines[first:end], "")
		end = first
		for first > 0 && strings.HasPrefix(lines[first-1], "# ") {
			first--
		}
		all[i].comment = strings.Join(lines[first:end], "")
	}
	return all
}

// knownIn lists the entries of the program's own config.toml, in force or commented out. In their keys, NAME stands for
// a name that the user chooses. A comment is its text, with the line breaks around lists alone; keys in adjacent lines share
// it.
func knownIn(reference string) []entry {
	all := entriesIn(comment.ReplaceAllString(reference, "$1"))
	unwrapped := strings.NewReplacer("\n#   ", "\n  ", "\n# ", " ")
	for i, e := range all {
		all[i].key = general(e.key)
		lines := behindList.ReplaceAllString(e.comment, "$1\n$2")
		all[i].comment = strings.TrimSpace(unwrapped.Replace("\n" + lines))
		if e.comment == "" && i > 0 && strings.Count(all[i-1].text, "\n") == 1 {
			all[i].comment = all[i-1].comment
		}
	}
	return all
}

// nearest returns the entry of config.toml with a key of the user's, or else with the table around it.
func nearest(all []entry, key string) (best entry) {
	for _, k := range all {
		if len(k.key) > len(best.key) && strings.HasPrefix(general(key)+".", k.key+".") {
			best = k
		}
	}
	return best
}

// general returns a key with NAME in the place of a name that the user chooses, and without the numbers of rows.
func general(key string) string {
	return rowNumber.ReplaceAllString(chosenName.ReplaceAllString(key, "$1.NAME"), "")
}

// limitKeys are keys by which earlier versions limited clients. Whoever still writes them must not believe that they do.
var limitKeys = regexp.MustCompile(`^(teams|all)(\.|$)|` +
	`^clients\..+\.(team|requests_per_minute|tokens_per_minute|dollars_per_day|concurrent)$`)

// suggestion says what to write in place of an unknown key: another one that is like it, of several one of the same
// table. It is empty if none is. Keys are compared by their own names.
func suggestion(all []entry, unknown string) string {
	if limitKeys.MatchString(unknown) {
		return "; limits are a gateway's: see docs/configuration.md, Who limits"
	}
	table, name := cutTable(general(unknown))
	best, least := "", 4+len(name)/4
	for _, k := range all {
		_, own := cutTable(k.key)
		n := distance(name, own)
		if n > 1+len(name)/4 {
			continue
		}
		if table == "" || !strings.HasPrefix(k.key, table) {
			n += 2
		}
		if n < least {
			best, least = k.key, n
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + strings.TrimPrefix(best, table) + "?)"
}

// distance returns how many letters have to be inserted, removed or replaced to make one word of the other.
func distance(one, other string) int {
	row := make([]int, len(other)+1) // distances of the beginnings of other from the letters of one so far
	for j := range row {
		row[j] = j
	}
	for i := range len(one) {
		before := row[0] // of the beginning of other that is a letter shorter, in the row above
		row[0] = i + 1
		for j := range len(other) {
			replaced := before
			if one[i] != other[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(other)]
}

// expand replaces each "${NAME}" in the values that may hold a secret by the environment variable NAME.
func (c *Config) expand() error {
	var m mistakes
	c.Console.Token = m.expand("console.token", c.Console.Token)
	c.Store.URL = m.expand("store.url", c.Store.URL)
	for name, u := range c.Upstreams {
		for header, value := range u.Headers {
			u.Headers[header] = m.expand("upstreams."+name+".headers."+header, value)
		}
	}
	name := c.Summarize.KeyEnv // may be the key itself, by mistake
	m.require(name == "" || strings.TrimSpace(os.Getenv(name)) != "",
		"summarize.key_env must be the name of an environment variable that is set")
	return errors.Join(m...)
}

var variable = regexp.MustCompile(`\$\{[^}]*\}?`)

// expand returns a value with its variables in place. An empty variable counts as none, as an empty credential would
// silently take its place.
func (m *mistakes) expand(key, value string) string {
	return variable.ReplaceAllStringFunc(value, func(found string) string {
		name, closed := strings.CutSuffix(found[len("${"):], "}")
		text := os.Getenv(name)
		m.require(closed, `%s has a "${" without "}"`, key)
		m.require(!closed || text != "", "%s needs the environment variable %s, which is not set or empty", key, name)
		return text
	})
}

// choices are the values of the keys that have few.
var choices = map[string][]string{
	"mode":                   {event.ModeOn, event.ModeObserve, event.ModeOff},
	"log.level":              {"debug", "info", "warn", "error"},
	"offload.address":        {"path", "url", "both", "tool", "auto", "none"},
	"upstreams.NAME.billing": {event.ByTokens, event.Subscription, event.Free},
	"rewrite.preset":         ladder.Presets(),
	"summarize.mode":         summarize.Modes,
	"summarize.detail":       summarize.Details,
	"summarize.prepare":      {"auto", "on", "off"},
}

// object is a JSON object.
type object = map[string]any

// quantities are the schemas of types that are written as text.
var quantities = map[reflect.Type]object{
	reflect.TypeFor[unit.Duration](): {"type": "string", "pattern": `^([0-9]+([.][0-9]*)?(ns|us|µs|ms|s|m|h))+$`},
	reflect.TypeFor[unit.Bytes]():    {"type": "string", "pattern": `^[0-9]+ *([KMG]i?)?B$`},
	reflect.TypeFor[unit.Tokens]():   {"type": []string{"integer", "string"}, "pattern": `^[0-9][0-9_]*[kKmM]?$`},
	reflect.TypeFor[ladder.Line]():   {"type": []string{"number", "string"}, "pattern": `^[0-9][0-9_.]*[kKmM]?$`},
	reflect.TypeFor[slog.Level]():    {"type": "string"},
}

// Schema returns the JSON schema of a configuration file, by which editors complete it and show mistakes. The comments
// of reference, the program's own config.toml, are its descriptions.
func Schema(reference string) []byte {
	comments := map[string]string{}
	for _, k := range knownIn(reference) {
		comments[k.key] = cmp.Or(comments[k.key], k.comment)
	}
	root := schema(comments).of(reflect.TypeFor[Config](), "")
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "config.toml of epitome"
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("BUG: cannot write the schema: " + err.Error())
	}
	return append(text, '\n')
}

// schema makes schemas with the comments of keys, in which NAME stands for the names that users choose.
type schema map[string]string

// ofKind are the types of JSON by kinds of Go. All others are integers.
var ofKind = map[reflect.Kind]string{reflect.Bool: "boolean", reflect.String: "string", reflect.Float64: "number",
	reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array"}

// of returns the schema of a value of a type under a key; the empty key is the whole file.
func (s schema) of(t reflect.Type, key string) object {
	if t.Kind() == reflect.Pointer {
		return s.of(t.Elem(), key)
	}
	o := object{"type": cmp.Or(ofKind[t.Kind()], "integer")}
	quantity, isQuantity := quantities[t]
	switch {
	case isQuantity:
		o = maps.Clone(quantity)
	case t.Kind() == reflect.Struct:
		o["additionalProperties"], o["properties"] = false, s.members(t, key)
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		o["additionalProperties"] = s.of(t.Elem(), key+".NAME")
	case t.Kind() == reflect.Map:
		o["additionalProperties"] = s.of(t.Elem(), key)
	case t.Kind() == reflect.Slice:
		items := s.of(t.Elem(), key)
		delete(items, "description") // it is the list's
		o["items"] = items
	}
	if list := choices[key]; list != nil {
		o["enum"] = list
	}
	if s[key] != "" {
		o["description"] = s[key]
	}
	return o
}

// members returns the schemas of a table's keys.
func (s schema) members(t reflect.Type, table string) object {
	all := object{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
		switch {
		case field.Anonymous && name == "":
			maps.Copy(all, s.members(field.Type, table))
		case name != "" && name != "-":
			all[name] = s.of(field.Type, strings.TrimPrefix(table+"."+name, "."))
		}
	}
	return all
}
