package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/console"
)

// List returns all values, those outside tables first. It shows no secret.
func (c *Config) List() (all []console.Setting) {
	defaults := Defaults(c.reference)
	_, usual := defaults.values()
	keys, texts := c.values()
	for _, key := range keys {
		// Of an upstream, defaults name no key: an empty text or list is none.
		isChanged := strings.Trim(texts[key], "'[]") != strings.Trim(usual[key], "'[]")
		v := console.Setting{Key: key, Text: texts[key], Changed: isChanged,
			Secret: isSecret(key, texts[key])}
		if v.Secret {
			v.Text = ""
		}
		all = append(all, v)
	}
	return all
}

// NeedRestart lists the keys in which the two differ and that only a new start puts in force.
func NeedRestart(running, wanted Config) (keys []string) {
	fixed := []string{"listen", "data", "tls.", "store.", "offload.", "events.", "log.", "otel.", "proxy.max_in_flight",
		"proxy.max_connections"}
	_, was := running.values()
	all, is := wanted.values()
	return slices.DeleteFunc(all, func(key string) bool {
		isFixed := slices.ContainsFunc(fixed, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		return !isFixed || was[key] == is[key]
	})
}

// Same reports whether two configurations have the same values.
func Same(a, b Config) bool {
	a.entries, b.entries = nil, nil
	return reflect.DeepEqual(a, b)
}

// values returns all values as TOML writes them, secrets included, and their keys in the order of Config.
func (c *Config) values() (keys []string, texts map[string]string) {
	text, err := toml.Marshal(c)
	if err != nil {
		panic(fmt.Errorf("BUG: cannot list the configuration: %w", err))
	}
	texts = map[string]string{}
	table, row := "", 0 // of a list of tables
	for line := range strings.Lines(string(text)) {
		key, value, isKey := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		switch {
		case strings.HasPrefix(line, "[["):
			name := strings.Trim(line, "[]\n")
			if !strings.HasPrefix(table, name+".") {
				row = 0
			}
			table = fmt.Sprintf("%s.%d.", name, row)
			row++
		case strings.HasPrefix(line, "["):
			table = strings.Trim(line, "[]\n") + "."
		case isKey:
			keys = append(keys, table+key)
			texts[table+key] = value
		}
	}
	return keys, texts
}

// isSecret reports whether a key holds a credential: by its name, or as a user and password in a URL.
func isSecret(key, value string) bool {
	_, rest, isURL := strings.Cut(value, "://")
	if isURL && (strings.Contains(rest, "@") || strings.Contains(rest, "password=")) {
		return true
	}
	named := strings.Contains(key, ".headers.") || strings.HasSuffix(key, ".token") || strings.HasSuffix(key, ".keys")
	return named && value != "''" && value != "[]"
}
