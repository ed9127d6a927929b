package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/internal/unit"
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

// nearest returns the key that was meant by one that does not exist; empty if none is like it. The decoder leaves the
// tables around an inline table out, so only the ends of keys are compared.
func nearest(key []string) (best string) {
	last := key[len(key)-1]
	least := 3 + min(len(last)/4, 2)
	for _, known := range keysOf(reflect.TypeFor[Config](), nil) {
		end := len(known) - 1
		if known[end] == anyName {
			continue
		}
		for i, part := range known {
			if part == anyName && i < len(key) {
				known[i] = key[i]
			}
		}
		n := unit.Distance(strings.Join(key, "."), strings.Join(known[max(0, end+1-len(key)):], "."))
		if known[end] == last {
			n = min(n, 2) // the right name in the wrong table
		}
		if n < least {
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
