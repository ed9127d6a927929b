package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// expand replaces each "${NAME}" in the values that may hold a secret by the environment variable NAME.
func (c *Config) expand() error {
	var wrong mistakes
	for key, value := range map[string]*string{
		"console.token": &c.Console.Token, "store.url": &c.Store.URL,
	} {
		wrong.expand(key, value)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		headers := c.Upstreams[name].Headers
		for _, header := range slices.Sorted(maps.Keys(headers)) {
			value := headers[header]
			wrong.expand("upstreams."+name+".headers."+header, &value)
			headers[header] = value
		}
	}
	if name := c.Summarize.KeyEnv; name != "" && strings.TrimSpace(os.Getenv(name)) == "" {
		wrong.add("summarize.key_env must be the name of an environment variable that is set") // name may be the key itself
	}
	return errors.Join(wrong...)
}

// expand expands one value. An empty variable counts as none: an empty credential would silently take its place.
func (m *mistakes) expand(key string, value *string) {
	var out strings.Builder
	for rest := *value; ; {
		before, after, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			break
		}
		name, after, closed := strings.Cut(after, "}")
		if !closed {
			m.add(`%s has a "${" without "}"`, key)
			return
		}
		if os.Getenv(name) == "" {
			m.add("%s needs the environment variable %s, which is not set or empty", key, name)
			return
		}
		out.WriteString(os.Getenv(name))
		rest = after
	}
	*value = out.String()
}

// mistakes collects all that is wrong with a configuration, one sentence each. No sentence repeats a secret.
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
