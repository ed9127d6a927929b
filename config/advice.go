package config

import (
	"reflect"
	"slices"
	"strings"
)

// mostNamed is how many keys of a table are named; of a larger one the table is.
const mostNamed = 4

// KeysLike returns the keys of config.toml that a flag of this name, without its dashes, would set if it existed: those
// whose name is like it, whole or in its last part, or those in a table of this name. There may be none.
func KeysLike(flag string) (list []string) {
	keys := appendKeys(nil, reflect.TypeFor[Config](), nil)
	for _, key := range keys {
		if key[len(key)-1] == anyName {
			continue
		}
		spelt := func(part string) bool { return strings.ReplaceAll(part, "_", "-") == flag }
		if spelt(key[len(key)-1]) || spelt(strings.Join(key, "-")) {
			list = append(list, keysWithin(keys, key)...)
		}
	}
	return list
}

// keysWithin is the key itself, or where it is a table, the keys right below it.
func keysWithin(keys [][]string, key []string) (list []string) {
	for _, k := range keys {
		if len(k) == len(key)+1 && slices.Equal(k[:len(key)], key) && k[len(key)] != anyName {
			list = append(list, strings.Join(k, "."))
		}
	}
	switch {
	case len(list) == 0:
		return []string{strings.Join(key, ".")}
	case len(list) > mostNamed:
		return []string{"[" + strings.Join(key, ".") + "]"}
	}
	return list
}
