package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Value is one value of a configuration, to be shown.
type Value struct {
	Key     string // the names of its tables and its own, with dots
	Text    string // as TOML writes it; empty for a secret
	Changed bool   // it differs from the default
	Secret  bool   // it is a credential, or may hold one
}

// List returns all values, in the order of their keys, with those outside tables first. It shows no secret.
func (c *Config) List() (all []Value) {
	defaults := Defaults(c.reference)
	values, usual := c.values(), defaults.values()
	keys := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		if inA, inB := strings.Contains(a, "."), strings.Contains(b, "."); inA != inB {
			return map[bool]int{false: -1, true: 1}[inA]
		}
		return strings.Compare(a, b)
	})
	for _, key := range keys {
		v := Value{Key: key, Text: values[key], Changed: values[key] != usual[key], Secret: isSecret(key, values[key])}
		if v.Secret {
			v.Text = ""
		}
		all = append(all, v)
	}
	return all
}

// fixed are the tables and keys that only a new start puts in force.
var fixed = []string{
	"listen", "data", "tls", "store", "offload", "events", "log", "otel", "proxy.max_in_flight", "proxy.max_connections",
}

// NeedRestart lists the keys in which the two differ and that only a new start puts in force.
func NeedRestart(running, wanted Config) (keys []string) {
	was, is := running.values(), wanted.values()
	for key, value := range is {
		isFixed := slices.ContainsFunc(fixed, func(f string) bool { return key == f || strings.HasPrefix(key, f+".") })
		if isFixed && was[key] != value {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// values are all values by their keys, as TOML writes them, secrets included.
func (c *Config) values() map[string]string {
	text, err := toml.Marshal(c)
	var tree map[string]any
	if err == nil {
		err = toml.Unmarshal(text, &tree)
	}
	if err != nil {
		panic(fmt.Errorf("BUG: cannot list the configuration: %w", err))
	}
	all := map[string]string{}
	flatten(all, "", tree)
	return all
}

// flatten adds the values in a tree to all, by keys that begin with prefix.
func flatten(all map[string]string, prefix string, tree map[string]any) {
	for name, value := range tree {
		key := prefix + name
		list, isList := value.([]any)
		if table, ok := value.(map[string]any); ok {
			flatten(all, key+".", table)
		} else if !isList || len(list) == 0 {
			all[key] = textOf(value)
		}
		for i, one := range list {
			if table, ok := one.(map[string]any); ok {
				flatten(all, key+"."+strconv.Itoa(i)+".", table)
			} else {
				all[key] = textOf(list)
			}
		}
	}
}

// textOf writes a value as TOML does.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return strconv.Quote(value)
	case []any:
		var texts []string
		for _, one := range value {
			texts = append(texts, textOf(one))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return fmt.Sprint(value)
}

// isSecret reports whether a key holds a credential: by its name, or as a user and password in a URL.
func isSecret(key, value string) bool {
	_, rest, isURL := strings.Cut(value, "://")
	if isURL && (strings.Contains(rest, "@") || strings.Contains(rest, "password=")) {
		return true
	}
	last := key[strings.LastIndexByte(key, '.')+1:]
	named := strings.Contains(key, ".headers.") || last == "token" || last == "keys"
	return named && value != `""` && value != "[]"
}
