package config

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/internal/unit"
)

// decode lays text, the content of file, over c: what it names is set, all else stays.
func (c *Config) decode(file string, text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors put a byte order mark there
	c.from.read(file, text)
	if err := cmp.Or(c.presetOf(text), checkTokens(text)); err != nil {
		return c.from.locate(err)
	}
	base := maps.Clone(c.Upstreams)
	for _, into := range []any{reflect.New(spelled(reflect.TypeFor[Config]())).Interface(), c} {
		if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(into); err != nil {
			return explain(file, err)
		}
	}
	if c.from.of([]string{"rewrite", "cached_price"}) != "" {
		c.Rewrite.PriceFixed = true
	}
	// An inline table replaces what the map held, where [upstreams.NAME] lays itself over it.
	for name, builtin := range base {
		u := c.Upstreams[name]
		u.URL, u.Billing = cmp.Or(u.URL, builtin.URL), cmp.Or(u.Billing, builtin.Billing)
		c.Upstreams[name] = u
	}
	return nil
}

// presetOf sets the numbers of the preset that text names, so that the numbers it gives by themselves stand above them.
// Whatever else is wrong with text is found later.
func (c *Config) presetOf(text []byte) error {
	var named struct{ Rewrite struct{ Preset string } }
	if toml.Unmarshal(text, &named) != nil || named.Rewrite.Preset == "" {
		return nil
	}
	if err := c.Rewrite.SetPreset(named.Rewrite.Preset); err != nil {
		return unit.Wrong([]string{"rewrite", "preset"}, "cannot use preset %q: %w", named.Rewrite.Preset, err)
	}
	return nil
}

// checkTokens refuses what is neither a whole number nor a text where a window stands: the decoder would not say where.
func checkTokens(text []byte) error {
	var written struct {
		Window struct {
			Default any
			Models  map[string]any
		}
	}
	if toml.Unmarshal(text, &written) != nil {
		return nil // what is wrong is found later
	}
	sound := func(v any) bool {
		switch v.(type) {
		case nil, int64, string:
			return true
		}
		return false
	}
	if !sound(written.Window.Default) {
		return unit.Wrong([]string{"window", "default"}, "cannot set window.default: write %s", tokensSpelling)
	}
	for _, pattern := range slices.Sorted(maps.Keys(written.Window.Models)) {
		if !sound(written.Window.Models[pattern]) {
			return unit.Wrong([]string{"window", "models", pattern},
				"cannot set window.models %q: write %s; a pattern with a dot needs quotes, as in \"gpt-4.1\"", pattern, tokensSpelling)
		}
	}
	return nil
}

// tokensSpelling says how a number of tokens is written in TOML.
const tokensSpelling = `a number of tokens, as in 128000 or "128k"`

// quantity is a duration or size as the text it is written as.
type quantity string

// spelled is t with a quantity in place of each duration and size. Decoding into it first makes a bare
// number there a mistake with a line, where the decoder would take nanoseconds or bytes. A number of tokens needs no
// unit.
func spelled(t reflect.Type) reflect.Type {
	if t == reflect.TypeFor[unit.Tokens]() {
		return t
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return reflect.TypeFor[quantity]()
	}
	switch t.Kind() {
	case reflect.Map:
		return reflect.MapOf(t.Key(), spelled(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(spelled(t.Elem()))
	case reflect.Struct:
		var fields []reflect.StructField
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous || !f.IsExported() { // of an embedded one, the fields follow
				continue
			}
			f.Type, f.Index = spelled(f.Type), nil
			fields = append(fields, f)
		}
		return reflect.StructOf(fields)
	}
	return t
}

// explain turns the decoder's error about file into a sentence for the one who wrote it.
func explain(file string, err error) error {
	var at *toml.DecodeError
	if !errors.As(err, &at) {
		return fmt.Errorf("cannot read configuration %s: %w", file, err)
	}
	line, _ := at.Position()
	key := strings.Join(at.Key(), ".")
	problem := strings.TrimPrefix(at.Error(), "toml: ")
	if key == "" {
		return fmt.Errorf("%s:%d: cannot read TOML: %s", file, line, problem)
	}
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) || strings.HasPrefix(problem, "cannot store ") && !isKey(at.Key()) {
		return fmt.Errorf("%s:%d: unknown key %s; %s", file, line, key, advise(at.Key()))
	}
	for _, before := range []string{" of type ", " in a ", " into "} {
		if i := strings.LastIndex(problem, before); i >= 0 {
			problem = "write " + spelling(problem[i+len(before):])
		}
	}
	return fmt.Errorf("%s:%d: cannot set %s: %s", file, line, key, problem)
}

// spelling says how a value of a Go type, as spelled makes them, is written in TOML.
func spelling(goType string) string {
	switch goType {
	case reflect.TypeFor[quantity]().String():
		return `a number with its unit in quotes, as in "90s" or "64MB"`
	case "string":
		return "a text in quotes"
	case "int":
		return "a whole number, without quotes"
	case "float64":
		return "a number, as in 0.8, without quotes"
	case "bool":
		return "true or false, without quotes"
	case "[]string":
		return `a list such as ["one", "two"]`
	}
	if strings.HasPrefix(goType, "[]") {
		return "a list of tables, each under its name in [[ ]]"
	}
	return "a table, under its name in [ ]"
}

// anyName stands in a known key for a name that the user chooses: an upstream's or a header's.
const anyName = "NAME"

// appendKeys appends every key within t, which itself stands under prefix, in the order of the fields.
func appendKeys(keys [][]string, t reflect.Type, prefix []string) [][]string {
	add := func(part string, t reflect.Type) {
		key := append(slices.Clone(prefix), part)
		keys = appendKeys(append(keys, key), t, key)
	}
	switch t.Kind() {
	case reflect.Slice:
		keys = appendKeys(keys, t.Elem(), prefix)
	case reflect.Map:
		add(anyName, t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Anonymous {
				keys = appendKeys(keys, f.Type, prefix)
				continue
			}
			if !f.IsExported() || f.Tag.Get("toml") == "-" {
				continue
			}
			add(f.Tag.Get("toml"), f.Type)
		}
	}
	return keys
}

// advise says what to write in place of key, which Config does not have. The decoder leaves out
// some of the tables that stand around a key in an inline table.
func advise(key []string) string {
	last := key[len(key)-1]
	if isKey(key) {
		key = []string{last}
	}
	nearest, least := "", 2*(2+min(len(last)/4, 2)) // fewer letters than half of this may be wrong
	for _, known := range appendKeys(nil, reflect.TypeFor[Config](), nil) {
		k := withNames(known, key)
		n := 2 * unit.Distance(strings.Join(key, "."), strings.Join(k[max(0, len(k)-len(key)):], "."))
		switch {
		case known[len(known)-1] == last:
			n = min(n, 3) // the right name in the wrong table is nearer than two wrong letters
		case len(k) > len(key):
			n += 2
		}
		// Of keys that are as near, the one that a file has for each of its tables is more likely meant.
		if n < least || n == least && slices.Contains(known, anyName) {
			nearest, least = strings.Join(k, "."), n
		}
	}
	if nearest == "" {
		return "no key has a name like it; remove it"
	}
	return "did you mean " + nearest + "?"
}

func isKey(key []string) bool {
	return slices.ContainsFunc(appendKeys(nil, reflect.TypeFor[Config](), nil), func(k []string) bool {
		return slices.Equal(withNames(k, key), key)
	})
}

// withNames is the known key k with the user's names from key, where the two run alike.
func withNames(k, key []string) []string {
	k = slices.Clone(k)
	for i, part := range k {
		if part == anyName && i < len(key) && (len(k) == len(key) || slices.Equal(k[:i], key[:i])) {
			k[i] = key[i]
		}
	}
	return k
}
