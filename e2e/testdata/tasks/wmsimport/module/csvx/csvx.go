// Package csvx reads the lines of an export: fields between semicolons, in quotes where they hold one, with a doubled
// quote for a quote.
package csvx

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrQuote is returned for a quote without its end.
var ErrQuote = errors.New("csvx: a quote without its end")

// Row is a line of an export by the names of its columns.
type Row map[string]string

// Read calls each for the rows of an export, whose first line names the columns, until it returns an error.
func Read(r io.Reader, each func(Row) error) error {
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		return lines.Err()
	}
	names, err := Fields(lines.Text())
	if err != nil {
		return err
	}
	for n := 2; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		row, err := row(names, lines.Text())
		if err == nil {
			err = each(row)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

func row(names []string, line string) (Row, error) {
	fields, err := Fields(line)
	if err != nil {
		return nil, err
	}
	if len(fields) != len(names) {
		return nil, fmt.Errorf("csvx: %d fields, want %d", len(fields), len(names))
	}
	row := Row{}
	for n, name := range names {
		row[name] = fields[n]
	}
	return row, nil
}

// Fields returns the fields of a line, without blanks around them.
func Fields(line string) ([]string, error) {
	var fields []string
	for {
		line = strings.TrimLeft(line, " ")
		if !strings.HasPrefix(line, `"`) {
			field, rest, more := strings.Cut(line, ";")
			fields = append(fields, strings.TrimRight(field, " "))
			if !more {
				return fields, nil
			}
			line = rest
			continue
		}
		field, rest, err := quoted(line[1:])
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			return fields, nil
		}
		if rest[0] != ';' {
			return nil, ErrQuote
		}
		line = rest[1:]
	}
}

func quoted(text string) (field, rest string, err error) {
	var all strings.Builder
	for {
		part, behind, closed := strings.Cut(text, `"`)
		all.WriteString(part)
		if !closed {
			return "", "", ErrQuote
		}
		if !strings.HasPrefix(behind, `"`) {
			return all.String(), behind, nil
		}
		all.WriteByte('"')
		text = behind[1:]
	}
}
