// Package samples has texts as agents send them, by the names that goals know them by. make.go says how they were made.
package samples

import "embed"

// Files has a text in UTF-8 for each kind, as KIND.txt.
//
//go:embed *.txt
var Files embed.FS
