package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// decode lays text over c: what it names is set, all else stays. Errors name file.
func (c *Config) decode(file string, text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors put a byte order mark there
	// The preset sets numbers that the file's own numbers override, wherever they stand.
	var first struct {
		Rewrite struct {
			Preset      string   `toml:"preset"`
			CachedPrice *float64 `toml:"cached_price"`
		} `toml:"rewrite"`
	}
	_ = toml.Unmarshal(text, &first) // mistakes are found below
	if first.Rewrite.Preset != "" {
		if err := c.Rewrite.SetPreset(first.Rewrite.Preset); err != nil {
			return fmt.Errorf("%s: rewrite.preset: %w", file, err)
		}
	}
	if first.Rewrite.CachedPrice != nil {
		c.Rewrite.PriceFixed = true
	}
	decoder := toml.NewDecoder(bytes.NewReader(text)).EnableUnmarshalerInterface().DisallowUnknownFields()
	return explain(file, decoder.Decode(c))
}

// explain adds to the decoder's errors the file, the lines and, for unknown keys, the nearest key.
func explain(file string, err error) error {
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		var all []error
		for i := range unknown.Errors {
			line, _ := unknown.Errors[i].Position()
			key := unknown.Errors[i].Key()
			said := fmt.Sprintf("%s:%d: unknown key %s", file, line, strings.Join(key, "."))
			if near := nearest(key); near != "" {
				said += "; did you mean " + near + "?"
			}
			all = append(all, errors.New(said))
		}
		return errors.Join(all...)
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		said, _, mismatch := strings.Cut(strings.TrimPrefix(wrong.Error(), "toml: cannot decode TOML "), " into ")
		if mismatch {
			return fmt.Errorf("%s:%d: %s must not be a TOML %s", file, line, strings.Join(wrong.Key(), "."), said)
		}
		return fmt.Errorf("%s:%d: %s", file, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", file, err)
}

// anyName stands in the list of keys for a name that the user chooses: an upstream's or a header's.
const anyName = "NAME"

// nearest returns the key that was meant by one that does not exist; empty if none is like it. Keys are compared by
// their own name, as the decoder leaves the tables around an inline table out; one of the same table is preferred.
func nearest(key []string) (best string) {
	last := key[len(key)-1]
	most := 1 + len(last)/4
	least := most + 3
	for _, known := range keysOf(reflect.TypeFor[Config](), nil) {
		n := distance(last, known[len(known)-1])
		if n > most || known[len(known)-1] == anyName {
			continue
		}
		if known[0] != key[0] {
			n += 2
		}
		if n < least {
			if i := slices.Index(known, anyName); i >= 0 && i < len(key) {
				known[i] = key[i]
			}
			best, least = strings.Join(known, "."), n
		}
	}
	return best
}

// keysOf lists the keys of a type that stand under a prefix, tables included.
func keysOf(t reflect.Type, prefix []string) (keys [][]string) {
	add := func(name string, t reflect.Type) {
		key := append(slices.Clone(prefix), name)
		keys = append(append(keys, key), keysOf(t, key)...)
	}
	switch t.Kind() {
	case reflect.Slice:
		return keysOf(t.Elem(), prefix)
	case reflect.Map:
		add(anyName, t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if tag := f.Tag.Get("toml"); tag != "" && tag != "-" {
				add(tag, f.Type)
			}
		}
	}
	return keys
}

// distance returns how many letters, of one byte each, must be put in, left out or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: from the part of a read so far to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
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
	if name := c.Summarize.KeyEnv; name != "" && strings.TrimSpace(os.Getenv(name)) == "" {
		m.add("summarize.key_env must be the name of an environment variable that is set") // name may be the key itself
	}
	return errors.Join(m...)
}

var variable = regexp.MustCompile(`\$\{[^}]*\}?`)

// expand returns a value with its variables in place. An empty variable counts as none, as an empty credential would
// silently take its place.
func (m *mistakes) expand(key, value string) string {
	return variable.ReplaceAllStringFunc(value, func(found string) string {
		name, closed := strings.CutSuffix(found[len("${"):], "}")
		text := os.Getenv(name)
		if !closed {
			m.add(`%s has a "${" without "}"`, key)
		} else if text == "" {
			m.add("%s needs the environment variable %s, which is not set or empty", key, name)
		}
		return text
	})
}

// mistakes are all that is wrong with a configuration, one sentence each. No sentence repeats a secret.
type mistakes []error

func (m *mistakes) add(format string, args ...any) { *m = append(*m, fmt.Errorf(format, args...)) }

// require adds a mistake unless ok.
func (m *mistakes) require(ok bool, format string, args ...any) {
	if !ok {
		m.add(format, args...)
	}
}

// check adds err, unless it is nil, behind the key that it is about. The key is empty if err names it.
func (m *mistakes) check(key string, err error) {
	switch {
	case err == nil:
	case key == "":
		*m = append(*m, err)
	default:
		m.add("%s: %w", key, err)
	}
}
