package offload

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"epitome/store/seal"
)

// SealedExtension is that of sealed contents: no tool is to take them for text.
const SealedExtension = ".sealed"

// sealedPlace is a Place in a folder that holds sealed contents beside plain ones, of before it was sealed or after. A
// name has one of the two; a sealed one goes before. Sizes are those of contents.
type sealedPlace struct {
	*filePlace // the plain ones; the secret and temps are those of both
	sealed     *filePlace
	seal       *seal.Seal
}

func newSealedPlace(plain *filePlace, by *seal.Seal) *sealedPlace {
	sealed := *plain
	sealed.extension = SealedExtension
	return &sealedPlace{plain, &sealed, by}
}

// Write does what Place says.
func (p *sealedPlace) Write(name string, content []byte, until time.Time) error {
	other := p.sealed
	var err error
	if p.seal.Writes() {
		other = p.filePlace
		err = p.sealed.Write(name, p.seal.File(name, content), until)
	} else {
		err = p.filePlace.Write(name, content, until)
	}
	if err == nil {
		if err = other.remove(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return err
}

// Look does what Place says.
func (p *sealedPlace) Look(name string) (Entry, error) {
	there, err := p.sealed.Look(name)
	if errors.Is(err, fs.ErrNotExist) {
		return p.filePlace.Look(name)
	}
	if err == nil {
		if there.Size = seal.ContentSize(there.Size); there.Size < 0 {
			there.Size = 0 // of what is left of it, nothing can be read
		}
	}
	return there, err
}

// Open does what Place says.
func (p *sealedPlace) Open(name string) (io.ReadSeekCloser, error) {
	f, err := p.sealed.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return p.filePlace.Open(name)
	}
	if err != nil {
		return nil, err
	}
	return p.seal.OpenFile(name, f)
}

// Prolong does what Place says.
func (p *sealedPlace) Prolong(name string, until time.Time) error {
	err := p.sealed.Prolong(name, until)
	if errors.Is(err, fs.ErrNotExist) {
		return p.filePlace.Prolong(name, until)
	}
	return err
}

// Drop does what Place says.
func (p *sealedPlace) Drop(name string, now time.Time) (bool, error) {
	freed, err := p.sealed.Drop(name, now)
	if errors.Is(err, fs.ErrNotExist) {
		return p.filePlace.Drop(name, now)
	}
	return freed, err
}

// Names does what Place says.
func (p *sealedPlace) Names() ([]string, error) {
	plain, err := p.filePlace.Names()
	if err != nil {
		return nil, err
	}
	sealed, err := p.sealed.Names()
	all := append(plain, sealed...)
	slices.Sort(all)
	return slices.Compact(all), err
}
