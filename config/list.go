package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Value is one value of a configuration, as it can be shown.
type Value struct {
	Key    string // names from the outermost table on, with dots
	Text   string // as TOML writes it; of a secret, nothing
	From   string // where it was written: "config.toml:3", the flag "--mode", or a command; empty: it is built in
	Secret bool   // a credential, or what may hold one
}

// List returns all values in force, in the order of the tables. No secret is in it.
func (c Config) List() (all []Value) {
	l := lister{from: c.from}
	l.add(nil, reflect.ValueOf(c))
	return l.all
}

// SetBy notes that a command has set all values that are in force under the key, such as "epitome demo".
func (c Config) SetBy(command string, key ...string) {
	l := lister{each: func(at []string) {
		if len(at) >= len(key) && slices.Equal(at[:len(key)], key) {
			c.from.note(command, at...)
		}
	}}
	l.add(nil, reflect.ValueOf(c))
}

// lister walks a configuration.
type lister struct {
	from origins
	each func(key []string) // called for each value; may be nil
	all  []Value
}

// add takes up the value under the key, or all that lie in it.
func (l *lister) add(key []string, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if !v.IsNil() { // else nothing is set
			l.add(key, v.Elem())
		}
		return
	}
	if _, ok := v.Interface().(encoding.TextMarshaler); ok {
		l.note(key, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		l.addFields(key, v)
	case reflect.Map:
		names := slices.Collect(maps.Keys(mapOf(v)))
		slices.Sort(names)
		for _, name := range names {
			l.add(append(slices.Clone(key), name), mapOf(v)[name])
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			l.note(key, v)
			return
		}
		for i := range v.Len() {
			l.add(append(slices.Clone(key), strconv.Itoa(i)), v.Index(i))
		}
	default:
		l.note(key, v)
	}
}

// addFields takes up what lies in a table: its own values first, then the tables within.
func (l *lister) addFields(key []string, v reflect.Value) {
	for _, tables := range [...]bool{false, true} {
		for f, value := range v.Fields() {
			switch {
			case !f.IsExported(), f.Tag.Get("toml") == "-":
			case f.Anonymous && !tables:
				l.add(key, value)
			case !f.Anonymous && isTable(f.Type) == tables:
				l.add(append(slices.Clone(key), f.Tag.Get("toml")), value)
			}
		}
	}
}

// isTable reports whether values of the type are tables, or lists of them.
func isTable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return !t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	case reflect.Slice:
		return isTable(t.Elem())
	case reflect.Map:
		return true
	}
	return false
}

func mapOf(v reflect.Value) map[string]reflect.Value {
	all := make(map[string]reflect.Value, v.Len())
	for i := v.MapRange(); i.Next(); {
		all[i.Key().String()] = i.Value()
	}
	return all
}

// note takes up one value.
func (l *lister) note(key []string, v reflect.Value) {
	if l.each != nil {
		l.each(key)
	}
	one := Value{Key: strings.Join(key, "."), From: l.from.of(key), Secret: isSecret(key) && !v.IsZero() || namesUser(v)}
	if !one.Secret {
		one.Text = valueText(v)
	}
	l.all = append(l.all, one)
}

// isSecret reports whether what stands under a key is a credential, or may hold one.
func isSecret(key []string) bool {
	last := key[len(key)-1]
	if strings.HasSuffix(last, "_wait") { // a time
		return false
	}
	return slices.Contains(key, "headers") || slices.ContainsFunc([]string{"token", "secret", "password", "keys"},
		func(word string) bool { return strings.Contains(last, word) && !strings.Contains(last, "tokens") })
}

// namesUser reports whether a value is a URL that says who asks, and with that perhaps a password.
func namesUser(v reflect.Value) bool {
	if v.Kind() != reflect.String {
		return false
	}
	_, rest, _ := strings.Cut(v.String(), "://")
	return strings.Contains(rest, "@")
}

// valueText writes a value as TOML does.
func valueText(v reflect.Value) string {
	switch one := v.Interface().(type) {
	case encoding.TextMarshaler:
		text, err := one.MarshalText()
		if err != nil {
			return err.Error()
		}
		return strconv.Quote(string(text))
	case string:
		return strconv.Quote(one)
	case []string:
		quoted := make([]string, len(one))
		for i := range one {
			quoted[i] = strconv.Quote(one[i])
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}
