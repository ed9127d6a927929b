package pages

import (
	"net/http"
	"strings"
)

// Setting is a value of the configuration in force.
type Setting struct {
	Key    string // names from the outermost table on, with dots
	Value  string // as it is written; of a secret, only that there is one
	From   string // where it was written: file and line, a flag, or a command; empty: it is built in
	Secret bool
}

// settings is the page of the configuration.
type settings struct {
	Tables []settingsTable
	Own    int // values that are not built in
}

type settingsTable struct {
	Name string // empty: before the first table
	List []Setting
}

// configuration makes the page of the configuration in force.
func (p *Pages) configuration(*http.Request) (*page, error) {
	var s settings
	if p.plugs.Configuration != nil {
		for _, one := range p.plugs.Configuration() {
			table, _, inside := strings.Cut(one.Key, ".")
			if !inside {
				table = ""
			}
			if n := len(s.Tables); n == 0 || s.Tables[n-1].Name != table {
				s.Tables = append(s.Tables, settingsTable{Name: table})
			}
			last := &s.Tables[len(s.Tables)-1]
			last.List = append(last.List, one)
			if one.From != "" {
				s.Own++
			}
		}
	}
	return &page{Template: "settings", Title: "Configuration", Here: "config", Body: s}, nil
}
