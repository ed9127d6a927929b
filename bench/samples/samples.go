// Package samples has texts as agents send them, by the names that goals know them by. make.go says how they were made.
package samples

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
)

// files has a text for each kind, as KIND.txt.gz: packed, as they are in every program that is installed.
//
//go:embed *.txt.gz
var files embed.FS

// Text is the text of a kind, in UTF-8.
func Text(kind string) (string, error) {
	packed, err := files.ReadFile(kind + ".txt.gz")
	if err != nil {
		return "", fmt.Errorf("cannot read sample %s: %w", kind, err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("cannot unpack sample %s: %w", kind, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("cannot unpack sample %s: %w", kind, err)
	}
	return string(text), nil
}
