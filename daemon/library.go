package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"epitome/offload/contexts"
	"epitome/rewrite/addition"
	"epitome/rewrite/decision"
)

// library lends what is kept. It is made by newLibrary.
type library struct {
	kept  contexts.Kept
	shelf decision.Shelf

	mu    sync.Mutex
	names map[loan]string // of artifacts
}

// loan is a file that was lent to who shares a scope. Another content has another key.
type loan struct{ scope, context, key string }

// mostLoans is how many names are remembered; each costs a hash of its file to find again.
const mostLoans = 100_000

var _ addition.Library = (*library)(nil)

// newLibrary returns a library of what is kept, over the shelf on which it is put.
func newLibrary(kept contexts.Kept, shelf decision.Shelf) *library {
	return &library{kept: kept, shelf: shelf, names: map[loan]string{}}
}

// Lend does what addition.Library says.
func (l *library) Lend(scope string, names []string) (list []addition.File, err error) {
	for _, context := range names {
		lentTo, err := l.lendAll(scope, context)
		if errors.Is(err, fs.ErrNotExist) { // a file was replaced meanwhile, and there is another list
			lentTo, err = l.lendAll(scope, context)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, lentTo...)
	}
	return list, nil
}

// lendAll lends the files of one name.
func (l *library) lendAll(scope, context string) (list []addition.File, err error) {
	files, err := l.kept.List(context)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", context, err)
	}
	l.expect(scope, context, files)
	for _, f := range files {
		name, err := l.lend(scope, context, f)
		if err != nil {
			return nil, fmt.Errorf("cannot put a textFile of %s on the shelf of artifacts: %w", context, err)
		}
		list = append(list, addition.File{Context: context, Name: f.Title, Bytes: f.Bytes, Artifact: name})
	}
	return list, nil
}

// expect has a shelf that lies far away look for what was lent before, all together.
func (l *library) expect(scope, context string, files []contexts.File) {
	far, ok := l.shelf.(decision.FarShelf)
	if !ok {
		return
	}
	var names []string
	l.mu.Lock()
	for _, f := range files {
		if name := l.names[loan{scope, context, f.Key}]; name != "" {
			names = append(names, name)
		}
	}
	l.mu.Unlock()
	far.Expect(names)
}

// lend puts one file on the shelf, unless it is there.
func (l *library) lend(scope, context string, f contexts.File) (name string, err error) {
	at := loan{scope, context, f.Key}
	l.mu.Lock()
	name = l.names[at]
	l.mu.Unlock()
	if name != "" && l.shelf.Touch(name) {
		return name, nil
	}
	content, err := l.kept.Read(context, f)
	if err != nil {
		return "", err
	}
	name = l.shelf.Name(scope, content)
	if !l.shelf.Touch(name) {
		if err := l.shelf.Put(name, content, false); err != nil {
			return "", err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) >= mostLoans {
		clear(l.names)
	}
	l.names[at] = name
	return name, nil
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
	lists := map[string][]contexts.File{}
	for _, f := range files {
		if l.shelf.Touch(f.Artifact) {
			continue
		}
		if _, known := lists[f.Context]; !known {
			lists[f.Context], _ = l.kept.List(f.Context) // what is not kept cannot be lent again
		}
		_ = l.again(scope, f, lists[f.Context])
	}
}

var errChanged = errors.New("the textFile is not kept as it was")

// again puts the file on the shelf that is lost there.
func (l *library) again(scope string, f addition.File, kept []contexts.File) error {
	for _, k := range kept {
		if k.Title != f.Name || k.Bytes != f.Bytes {
			continue
		}
		content, err := l.kept.Read(f.Context, k)
		if err != nil {
			return err
		}
		if l.shelf.Name(scope, content) == f.Artifact {
			return l.shelf.Put(f.Artifact, content, true)
		}
	}
	return errChanged
}
