package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/agnivade/levenshtein"
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
	err := toml.NewDecoder(bytes.NewReader(text)).EnableUnmarshalerInterface().DisallowUnknownFields().Decode(c)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		var m mistakes
		for i := range unknown.Errors {
			line, _ := unknown.Errors[i].Position()
			key := strings.Join(unknown.Errors[i].Key(), ".")
			m.add("%s:%d: unknown key %s%s", file, line, key, c.suggestion(key))
		}
		return errors.Join(m...)
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

var (
	keyLine    = regexp.MustCompile(`(?m)^#?(?:\[+([^\]\n]+)\]+|([a-z_0-9]+) = .*)$`) // of a table, or of a key
	chosenName = regexp.MustCompile(`^(upstreams|clients|prices)\.[^.]+`)             // with a name of the user's
)

// keys lists the keys and tables of config.toml. NAME stands for a name that the user chooses.
func (c *Config) keys() (keys []string) {
	table := ""
	for _, m := range keyLine.FindAllStringSubmatch(c.reference, -1) {
		key := m[1]
		if key == "" {
			key = table + m[2]
		} else {
			key = chosenName.ReplaceAllString(key, "$1.NAME")
			table = key + "."
		}
		keys = append(keys, key)
	}
	return keys
}

// suggestion asks whether a key was meant that is like the unknown one; it is empty if none is. Keys are compared by
// their own names, as the decoder leaves out the tables around an inline table; one of the same table is preferred.
func (c *Config) suggestion(unknown string) string {
	name := unknown[strings.LastIndexByte(unknown, '.')+1:]
	best, least := "", 4+len(name)/4
	for _, key := range c.keys() {
		n := levenshtein.ComputeDistance(name, key[strings.LastIndexByte(key, '.')+1:])
		if n > 1+len(name)/4 {
			continue
		}
		if table, _, _ := strings.Cut(key, "."); !strings.HasPrefix(unknown, table+".") {
			n += 2
		}
		if n < least {
			best, least = "; did you mean "+key+"?", n
		}
	}
	return best
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
