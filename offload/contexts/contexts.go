// Package contexts keeps the files that people give to conversations, by names under which they ask for them together.
//
// They lie in the data folder, each under a name by chance, and a list of them beside them.
// The package promises that what it keeps is text within its bounds, that a file is there whole or not at all, and
// that the list names no file that is not there. Of two who change it at once neither loses anything.
package contexts

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofrs/flock"
)

// Config is the table [context] of config.toml.
type Config struct {
	Names []string `toml:"names"` // that all conversations are given
}

// FolderName is the folder in a data folder.
const FolderName = "context"

// The bounds of what is kept.
const (
	MostBytes = 10 << 20 // of a file
	MostFiles = 200      // under one name
	MostAll   = 64 << 20 // bytes of all files under one name
	mostName  = 64       // bytes of a name
	mostTitle = 120      // bytes of a file's name
)

// ErrUnknown says that nothing is kept under a name.
var ErrUnknown = errors.New("nothing is kept under that name")

// File is one that is kept.
type File struct {
	Title string `json:"name"` // its own name
	Bytes int64  `json:"bytes"`
	Key   string `json:"key"` // by chance: another content has another one
}

// Kept is what a data folder keeps.
type Kept struct{ folder string }

// In is what the data folder keeps.
func In(data string) Kept { return Kept{filepath.Join(data, FolderName)} }

// CheckName says what is wrong with a name.
func CheckName(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	if len(name) > mostName || strings.Trim(name, letters+"._-") != "" || strings.IndexAny(name, letters) != 0 {
		return fmt.Errorf("cannot use the name %.80q: write up to %d of a-z, 0-9, dot, dash and underscore, with a letter or "+
			"digit first", name, mostName)
	}
	return nil
}

// Has reports whether files are kept under the name.
func (k Kept) Has(name string) bool {
	if CheckName(name) != nil {
		return false
	}
	_, err := os.Stat(k.path(name, listName))
	return err == nil
}

// Knows reports whether files are kept under the name, or were: who has begun to ask for it asks on.
func (k Kept) Knows(name string) bool {
	if CheckName(name) != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(k.folder, name))
	return err == nil
}

// Names are the names under which files are kept, sorted.
func (k Kept) Names() (list []string, err error) {
	entries, err := os.ReadDir(k.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && k.Has(e.Name()) {
			list = append(list, e.Name())
		}
	}
	return list, err
}

// listName is the list beside the files.
const listName = "files"

// List are the files under the name, sorted by their own. The error is ErrUnknown if there are none.
func (k Kept) List(name string) (list []File, err error) {
	if !k.Has(name) {
		return nil, ErrUnknown
	}
	text, err := os.ReadFile(k.path(name, listName))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	return list, err
}

// Read is the content of a file.
func (k Kept) Read(name string, f File) ([]byte, error) { return os.ReadFile(k.path(name, f.Key)) }

// Incoming is a file that is to be kept.
type Incoming struct {
	Title string
	Text  []byte
}

// Add keeps files under the name, in the place of those that have the same own name.
func (k Kept) Add(name string, files []Incoming) error {
	if err := CheckName(name); err != nil {
		return err
	}
	for _, in := range files {
		if err := checkFile(in); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(k.folder, name), 0o700); err != nil {
		return err
	}
	return k.alone(func() error { return k.add(name, files) })
}

// add is Add under the lock.
func (k Kept) add(name string, files []Incoming) error {
	list, err := k.List(name)
	if err != nil && !errors.Is(err, ErrUnknown) {
		return err
	}
	var gone []File
	for _, in := range files {
		i := slices.IndexFunc(list, func(f File) bool { return f.Title == in.Title })
		if i >= 0 {
			gone, list = append(gone, list[i]), slices.Delete(list, i, i+1)
		}
		list = append(list, File{in.Title, int64(len(in.Text)), strings.ToLower(rand.Text())})
	}
	if err := checkAll(list); err != nil {
		return err
	}
	for i, f := range list[len(list)-len(files):] {
		if err := k.write(name, f.Key, files[i].Text); err != nil {
			return err
		}
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Title, b.Title) })
	return k.writeList(name, list, gone)
}

// checkFile says what is wrong with one file.
func checkFile(in Incoming) error {
	switch {
	case in.Title == "" || len(in.Title) > mostTitle || !utf8.ValidString(in.Title) || strings.ContainsAny(in.Title, "\x00\r\n"):
		return fmt.Errorf("cannot keep a file called %.80q: its name must be one line of up to %d bytes; rename it", in.Title, mostTitle)
	case len(in.Text) > MostBytes:
		return fmt.Errorf("cannot keep %q: its text has %d bytes, and a file may have %d; cut it into several", in.Title, len(in.Text),
			MostBytes)
	case !utf8.Valid(in.Text) || bytes.IndexByte(in.Text, 0) >= 0:
		return fmt.Errorf("cannot keep %q: it is no text in UTF-8; convert it first", in.Title)
	}
	return nil
}

// checkAll says what is wrong with all files of a name together.
func checkAll(list []File) error {
	all := int64(0)
	for _, f := range list {
		all += f.Bytes
	}
	if len(list) > MostFiles || all > MostAll {
		return fmt.Errorf("cannot keep %d files of %d bytes under one name: it may have %d files and %d bytes; use several names",
			len(list), all, MostFiles, MostAll)
	}
	return nil
}

// Remove forgets files under the name; all of them if none is named.
func (k Kept) Remove(name string, titles ...string) error {
	if !k.Has(name) {
		return ErrUnknown
	}
	return k.alone(func() error { return k.remove(name, titles) })
}

// remove is Remove under the lock.
func (k Kept) remove(name string, titles []string) error {
	list, err := k.List(name)
	if err != nil && (len(titles) > 0 || errors.Is(err, ErrUnknown)) {
		return err
	}
	if len(titles) == 0 {
		return k.empty(name)
	}
	var gone []File
	for _, title := range titles {
		i := slices.IndexFunc(list, func(f File) bool { return f.Title == title })
		if i < 0 {
			return fmt.Errorf("there is no file %.80q under that name", title)
		}
		gone, list = append(gone, list[i]), slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		return k.empty(name)
	}
	return k.writeList(name, list, gone)
}

// lockName is the file whose lock has whoever changes what is kept. It can be no name of what is.
const lockName = ".lock"

// mostWait is how long one waits for another who changes what is kept.
const mostWait = 10 * time.Second

// alone does what changes files, while nobody else does.
func (k Kept) alone(change func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostWait)
	defer cancel()
	lock := flock.New(filepath.Join(k.folder, lockName))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("cannot change what is kept in %s: %w", k.folder, err)
	}
	return errors.Join(change(), lock.Close())
}

// empty takes all files of the name away, the list first. The folder stays: the name is known.
func (k Kept) empty(name string) error {
	if err := os.Remove(k.path(name, listName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(k.folder, name))
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(k.folder, name, e.Name())))
	}
	return err
}

// writeList writes the list, and then takes away the files that are not in it any more.
func (k Kept) writeList(name string, list, gone []File) error {
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := k.write(name, listName, text); err != nil {
		return err
	}
	for _, f := range gone {
		_ = os.Remove(k.path(name, f.Key)) // nobody looks for what is left
	}
	return nil
}

// path is where a file or the list lies.
func (k Kept) path(name, what string) string { return filepath.Join(k.folder, name, what) }

// write writes something whole, in the place of what stands there.
func (k Kept) write(name, what string, content []byte) error {
	to := k.path(name, what)
	f, err := os.CreateTemp(filepath.Dir(to), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
