package main

import (
	"errors"
	"io/fs"
)

// pathCause is err without the path, which the sentence around it names.
func pathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
