package config

import (
	"errors"
	"io/fs"
)

// PathCause is err without the path, which the sentence around it names.
func PathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
