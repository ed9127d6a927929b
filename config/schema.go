package config

import (
	"encoding/json"
	"log/slog"
	"reflect"
	"strings"

	"epitome/event"
	"epitome/internal/unit"
	"epitome/rewrite/ladder"
	"epitome/summarize"
)

// choices are the values of the keys that have few.
var choices = map[string][]string{
	"mode":                   {event.ModeOn, event.ModeObserve, event.ModeOff},
	"log.level":              {"debug", "info", "warn", "error"},
	"log.format":             {"auto", "text", "json"},
	"offload.address":        {"path", "url", "both", "tool", "auto", "none"},
	"upstreams.NAME.billing": {event.ByTokens, event.Subscription, event.Free},
	"rewrite.preset":         ladder.Presets(),
	"summarize.mode":         summarize.Modes(),
	"summarize.detail":       summarize.Details(),
	"summarize.prepare":      {summarize.PrepareAuto, summarize.PrepareOn, summarize.PrepareOff},
}

// object is a JSON object.
type object = map[string]any

// quantities are the schemas of types that are written as text.
var quantities = map[reflect.Type]object{
	reflect.TypeFor[unit.Duration](): {"type": "string", "pattern": `^([0-9]+([.][0-9]*)?(ns|us|µs|ms|s|m|h))+$`},
	reflect.TypeFor[unit.Bytes]():    {"type": "string", "pattern": `^[0-9]+ *([KMG]i?)?B$`},
	reflect.TypeFor[unit.Tokens]():   {"type": []string{"integer", "string"}, "pattern": `^[0-9][0-9_]*[kKmM]?$`},
	reflect.TypeFor[ladder.Line]():   {"type": []string{"number", "string"}, "pattern": `^[0-9][0-9_.]*[kKmM]?$`},
	reflect.TypeFor[slog.Level]():    {"type": "string"},
}

// Schema returns the JSON schema of a configuration file, by which editors complete it and show mistakes. The comments
// of reference, the program's own config.toml, are its descriptions.
func Schema(reference string) []byte {
	s := schema{comments: commentsIn(reference)}
	root := s.of(reflect.TypeFor[Config](), "")
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "config.toml of epitome"
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("BUG: cannot write the schema: " + err.Error())
	}
	return append(text, '\n')
}

type schema struct {
	comments map[string]string // by key, with NAME for the names that users choose
}

// of returns the schema of a value of a type under a key; the empty key is the whole file.
func (s *schema) of(t reflect.Type, key string) object {
	o := object{}
	quantity, isQuantity := quantities[t]
	switch {
	case isQuantity:
		for name, v := range quantity {
			o[name] = v
		}
	case t.Kind() == reflect.Pointer:
		o = s.of(t.Elem(), key)
	case t.Kind() == reflect.Struct:
		o["type"], o["additionalProperties"], o["properties"] = "object", false, s.members(t, key)
	case t.Kind() == reflect.Map:
		below := key
		if t.Elem().Kind() == reflect.Struct {
			below += ".NAME"
		}
		o["type"], o["additionalProperties"] = "object", s.of(t.Elem(), below)
	case t.Kind() == reflect.Slice:
		items := s.of(t.Elem(), key)
		delete(items, "description") // it is the list's
		o["type"], o["items"] = "array", items
	case t.Kind() == reflect.Bool:
		o["type"] = "boolean"
	case t.Kind() == reflect.String:
		o["type"] = "string"
	case t.Kind() == reflect.Float64:
		o["type"] = "number"
	default:
		o["type"] = "integer"
	}
	if list := choices[key]; list != nil {
		o["enum"] = list
	}
	if text := s.comments[key]; text != "" {
		o["description"] = text
	}
	return o
}

// members returns the schemas of a table's keys.
func (s *schema) members(t reflect.Type, table string) object {
	all := object{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
		switch {
		case field.Anonymous && name == "":
			for key, o := range s.members(field.Type, table) {
				all[key] = o
			}
		case name != "" && name != "-":
			all[name] = s.of(field.Type, strings.TrimPrefix(table+"."+name, "."))
		}
	}
	return all
}

// commentsIn returns the comments of config.toml by the key or the table below them.
func commentsIn(reference string) map[string]string {
	lines := strings.SplitAfter(reference, "\n")
	named := strings.SplitAfter(comment.ReplaceAllString(reference, "$1"), "\n") // with the keys that are commented out
	comments := map[string]string{}
	for _, e := range entriesIn(named) {
		key := rowNumber.ReplaceAllString(chosenName.ReplaceAllString(e.key, "$1.NAME"), "")
		first := e.line - 1
		for first > 0 && strings.HasPrefix(lines[first-1], "# ") {
			first--
		}
		text := strings.Join(lines[first:e.line-1], "")
		if text != "" && comments[key] == "" {
			comments[key] = strings.TrimSpace(strings.ReplaceAll("\n"+text, "\n# ", "\n"))
		}
	}
	return comments
}
