package api

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"epitome/console/story"
)

// keys adds the JSON keys of a type, and of all that it is made of.
func keys(of reflect.Type, into map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		keys(of.Elem(), into)
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range of.NumField() {
			field := of.Field(i)
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
				into[name] = true
			}
			keys(field.Type, into)
		}
	}
}

func TestEachKeyIsExplained(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, word := range regexp.MustCompile("[`\"]([a-z_0-9]+)[`\"]").FindAllStringSubmatch(string(doc), -1) {
		named[word[1]] = true
	}
	wanted := map[string]bool{}
	for _, answer := range []reflect.Type{
		reflect.TypeFor[story.Summary](), reflect.TypeFor[story.Page[story.Conversation]](),
		reflect.TypeFor[story.Status](),
	} {
		keys(answer, wanted)
	}
	// the lists of a Story are explained as a whole, but for exchanges
	kept := reflect.TypeFor[story.Story]()
	for i := range kept.NumField() {
		name, _, _ := strings.Cut(kept.Field(i).Tag.Get("json"), ",")
		if wanted[name] = true; name == "exchanges" {
			keys(kept.Field(i).Type, wanted)
		}
	}
	delete(wanted, "") // what is embedded
	for name := range wanted {
		if !named[name] {
			t.Errorf("docs/api.md does not name %q", name)
		}
	}
	if len(wanted) < 80 {
		t.Errorf("only %d keys were looked for", len(wanted))
	}
}
