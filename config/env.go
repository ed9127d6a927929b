package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"epitome/internal/lazyregexp"
)

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

var variable = lazyregexp.New(`\$\{[^}]*\}?`)

// expand returns a value with its variables in place. An empty variable counts as none, as an empty credential would
// silently take its place.
func (m *mistakes) expand(key, value string) string {
	return variable().ReplaceAllStringFunc(value, func(found string) string {
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
