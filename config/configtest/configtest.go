// Package configtest gives tests the program's own config.toml, which only the program embeds.
package configtest

import (
	"os"
	"path/filepath"
)

// Text is config.toml as it stands in the folder of the module that the tests run in.
func Text() string {
	folder, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		if folder == filepath.Dir(folder) {
			panic("there is no go.mod in the folder of the tests, nor above it")
		}
		folder = filepath.Dir(folder)
	}
	text, err := os.ReadFile(filepath.Join(folder, "config.toml"))
	if err != nil {
		panic(err)
	}
	return string(text)
}
