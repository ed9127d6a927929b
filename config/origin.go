package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"epitome/internal/unit"
)

// origins say where the values of a configuration were written: "config.toml:3", or the flag "--mode". A key is the
// names from the outermost table on, or a number in the place of an element's. What is in none of them is built in.
type origins map[string]string

func originKey(key []string) string { return strings.Join(key, "\x00") }

// note says where the value under the key stands. The decoder takes a key in capitals too.
func (o origins) note(origin string, key ...string) {
	o[strings.ToLower(originKey(key))] = origin
	o[originKey(key)] = origin
}

// of is where the value under the key stands, or the table from which it is missing; empty if neither was written.
func (o origins) of(key []string) string {
	if origin := o[originKey(key)]; origin != "" {
		return origin
	}
	return o[strings.ToLower(originKey(key))]
}

// locate puts before an error about values where the first one stands that was written at all, or else its table.
func (o origins) locate(err error) error {
	var wrong *unit.KeyError
	if !errors.As(err, &wrong) {
		return err
	}
	keys := wrong.Keys
	for len(keys) > 0 {
		var tables [][]string
		for _, key := range keys {
			if origin := o.of(key); origin != "" {
				return fmt.Errorf("%s: %w", origin, err)
			}
			if len(key) > 1 {
				tables = append(tables, key[:len(key)-1])
			}
		}
		keys = tables
	}
	return err
}

// read notes where the values stand that text sets, the content of file. Text that is no TOML is read as far as it
// goes.
func (o origins) read(file string, text []byte) {
	r := originReader{origins: o, file: file, elements: map[string]int{}}
	r.parser.Reset(text)
	var table []string
	for r.parser.NextExpression() {
		switch e := r.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = r.header(e)
		case unstable.KeyValue:
			r.value(table, e)
		}
	}
}

// originReader reads one file.
type originReader struct {
	origins  origins
	file     string
	parser   unstable.Parser
	elements map[string]int // how many tables a list has so far, by its key
}

// header is the key of a table, and of a list's element with its number.
func (r *originReader) header(e *unstable.Node) (key []string) {
	for it := e.Key(); it.Next(); {
		name := it.Node()
		key = append(key, string(name.Data))
		list := originKey(key)
		if e.Kind == unstable.ArrayTable && it.IsLast() {
			r.note(name, key)
			r.elements[list]++
		}
		if n := r.elements[list]; n > 0 {
			key = append(key, strconv.Itoa(n-1))
		}
		r.note(name, key)
	}
	return key
}

// value notes a value in the table, and the ones within it.
func (r *originReader) value(table []string, e *unstable.Node) {
	key := append([]string(nil), table...)
	for it := e.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
		r.note(it.Node(), key)
	}
	r.within(key, e.Value())
}

// within notes what lies in an inline table or a list.
func (r *originReader) within(key []string, value *unstable.Node) {
	i := 0
	for it := value.Children(); it.Next(); i++ {
		if value.Kind == unstable.InlineTable {
			r.value(key, it.Node())
			continue
		}
		element := append(key[:len(key):len(key)], strconv.Itoa(i))
		if it.Node().Raw.Length > 0 { // those that have a place of their own
			r.note(it.Node(), element)
		}
		r.within(element, it.Node())
	}
}

// note notes where a key stands first.
func (r *originReader) note(name *unstable.Node, key []string) {
	if r.origins[originKey(key)] != "" {
		return
	}
	line := r.parser.Shape(name.Raw).Start.Line
	r.origins.note(fmt.Sprintf("%s:%d", r.file, line), key...)
}
