package daemon

import (
	"errors"
	"fmt"

	"epitome/inject"
	"epitome/rewrite/addition"
	"epitome/rewrite/decision"
)

// library lends what is kept.
type library struct {
	kept  inject.Files
	shelf decision.Shelf
}

var _ addition.Library = (*library)(nil)

// newLibrary returns a library of what is kept, over the shelf on which it is put.
func newLibrary(kept inject.Files, shelf decision.Shelf) *library { return &library{kept, shelf} }

// Lend does what addition.Library says.
func (l *library) Lend(scope string, names []string) (list []addition.File, err error) {
	for _, context := range names {
		files, err := l.kept.List(context)
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", context, err)
		}
		for _, f := range files {
			name, err := l.lend(scope, context, f)
			if err != nil {
				return nil, fmt.Errorf("cannot put a file of %s on the shelf of artifacts: %w", context, err)
			}
			list = append(list, addition.File{Context: context, Name: f.Name, Bytes: f.Bytes, Artifact: name})
		}
	}
	return list, nil
}

// lend puts one file on the shelf, unless it is there.
func (l *library) lend(scope, context string, f inject.File) (name string, err error) {
	content, err := l.kept.Read(context, f.Name)
	if err != nil {
		return "", err
	}
	if name = l.shelf.Name(scope, content); l.shelf.Touch(name) {
		return name, nil
	}
	return name, l.shelf.Put(name, content, false)
}

// Renew does what addition.Library says. A file whose content has changed since, or that is not kept any more, is put
// again by nobody.
func (l *library) Renew(scope string, files []addition.File) {
	if far, ok := l.shelf.(decision.FarShelf); ok {
		names := make([]string, len(files))
		for i, f := range files {
			names[i] = f.Artifact
		}
		far.Expect(names)
	}
	for _, f := range files {
		if !l.shelf.Touch(f.Artifact) {
			_ = l.again(scope, f) // what is not kept as it was cannot be lent again
		}
	}
}

// again puts the file on the shelf that is lost there.
func (l *library) again(scope string, f addition.File) error {
	content, err := l.kept.Read(f.Context, f.Name)
	if err == nil && l.shelf.Name(scope, content) != f.Artifact {
		err = errors.New("the file is not kept as it was")
	}
	if err != nil {
		return err
	}
	return l.shelf.Put(f.Artifact, content, true)
}
