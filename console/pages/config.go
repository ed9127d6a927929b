package pages

import (
	"net/http"
	"strings"
)

// Setting is a value of the configuration in force.
type Setting struct {
	Key    string // names from the outermost table on, with dots
	Value  string // as TOML writes it; empty for a secret
	From   string // where it was set: file and line, a flag, or a command; empty: it is the default
	Secret bool
}

// settings is the data of the configuration's page.
type settings struct{ Changed, Defaults []setting }

// setting is a value with the description of its key.
type setting struct {
	Setting
	About string
}

func (p *Pages) config(*http.Request) (any, error) {
	var s settings
	about := descriptions(p.Reference)
	for _, one := range p.Settings() {
		described := setting{one, about[referenceKey(one.Key)]}
		if one.From != "" {
			s.Changed = append(s.Changed, described)
		} else {
			s.Defaults = append(s.Defaults, described)
		}
	}
	return s, nil
}

// descriptions returns the comment above each key of a commented TOML file, by referenceKey. Keys that are commented
// out count too.
func descriptions(file string) map[string]string {
	all := make(map[string]string)
	table, about := "", []string(nil)
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		code := strings.TrimPrefix(line, "#")
		key, _, isKey := strings.Cut(code, " = ")
		switch {
		case strings.HasPrefix(code, "["):
			table, about = strings.Trim(code, "[]")+".", nil
		case isKey && !strings.HasPrefix(code, " ") && !strings.ContainsAny(key, " \""):
			if at := referenceKey(table + key); all[at] == "" { // else it is another example of the same key
				all[at] = strings.Join(about, " ")
			}
			about = nil
		case strings.HasPrefix(line, "#") && !strings.HasPrefix(code, " ["): // a mark such as [reload] is no description
			about = append(about, strings.TrimSpace(code))
		case line == "":
			about = nil
		}
	}
	return all
}

// referenceKey returns a key without the name that a user gave its table: upstreams.url for upstreams.openai.url.
func referenceKey(key string) string {
	names := strings.Split(key, ".")
	if len(names) < 3 {
		return key
	}
	return names[0] + "." + names[len(names)-1]
}
