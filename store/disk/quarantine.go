package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"
)

const (
	// markerName is a file that stands in the folder while it is being opened.
	markerName = "opening"

	// maxQuarantined is how many damaged stores stay beside the folder.
	maxQuarantined = 2

	stamp = "20060102T150405" // of a quarantined folder, UTC
)

// unfinished looks at a folder's files and returns why it must not be opened; why is nil if it may be. err says that
// there are files of somebody else's in it: they are not ours to move.
func unfinished(folder string) (why, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var marker, manifest, ours bool
	var foreign string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == markerName:
			marker = true
		case name == badger.ManifestFilename:
			manifest, ours = true, true
		case name == "LOCK": // of a process that died; it says nothing
		case badgers(name):
			ours = true
		default:
			foreign = name
		}
	}
	switch {
	case !ours && foreign != "":
		return nil, fmt.Errorf("the folder has other things in it, such as %s", foreign)
	case !ours:
		return nil, nil
	case marker:
		return errors.New("epitome ended while it was opening it"), nil
	case !manifest: // Badger would begin an empty store and delete the rest
		return errors.New("its MANIFEST is missing"), nil
	}
	return nil, nil
}

// badgers reports whether Badger names a file like this.
func badgers(name string) bool {
	switch filepath.Ext(name) {
	case ".sst", ".vlog", ".mem":
		return true
	}
	return slices.Contains([]string{"KEYREGISTRY", "REWRITE-KEYREGISTRY", "DISCARD", "MANIFEST-REWRITE"}, name)
}

// dropEmptyLogs deletes logs without a byte. A process that is killed while it begins a new log leaves one. Nothing
// acknowledged was in it, and Badger would refuse to open it.
func dropEmptyLogs(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".mem" && ext != ".vlog" {
			continue
		}
		file, err := e.Info()
		if err == nil && file.Size() == 0 {
			err = os.Remove(filepath.Join(folder, e.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTables verifies every table of the store. Badger does so in goroutines of its own, where a panic over a damaged
// table ends the process.
func checkTables(folder string) error {
	f, err := os.Open(filepath.Join(folder, badger.ManifestFilename))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return survive(func() error {
		manifest, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(folder))
		if err != nil {
			return fmt.Errorf("cannot read its MANIFEST: %w", err)
		}
		for id, entry := range manifest.Tables {
			o := table.Options{Compression: entry.Compression, BlockSize: badger.DefaultOptions("").BlockSize}
			if err := checkTable(table.NewFilename(id, folder), o); err != nil {
				return err
			}
		}
		return nil
	})
}

func checkTable(name string, o table.Options) error {
	mapped, err := z.OpenMmapFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer mapped.Close(-1) // -1 leaves the size of the file alone
	err = survive(func() error {
		t, err := table.OpenTable(mapped, o)
		if err != nil {
			return err
		}
		return t.VerifyChecksum()
	})
	if err != nil {
		return fmt.Errorf("its table %s is damaged: %.300s", filepath.Base(name), err.Error())
	}
	return nil
}

// quarantine moves the folder aside, makes an empty one, and says so in one sentence.
func quarantine(folder string, why error, now time.Time) (notice string, err error) {
	folder = filepath.Clean(folder)
	aside := folder + ".bad-" + now.UTC().Format(stamp)
	for n := 2; exists(aside); n++ {
		aside = fmt.Sprintf("%s.bad-%s-%d", folder, now.UTC().Format(stamp), n)
	}
	if err := os.Rename(folder, aside); err != nil {
		return "", fmt.Errorf("cannot move it aside although %w: %w", why, err)
	}
	forget(folder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return fmt.Sprintf("The store %s could not be used (%v): it lies in %s now, and an empty one begins.", folder, why,
		aside), nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// forget deletes all but the newest quarantined folders. What it cannot delete stays: the store works all the same.
func forget(folder string) {
	entries, err := os.ReadDir(filepath.Dir(folder))
	if err != nil {
		return
	}
	var aside []string // in the order of names, which is that of time
	for _, e := range entries {
		when, found := strings.CutPrefix(e.Name(), filepath.Base(folder)+".bad-")
		if _, err := time.Parse(stamp, when[:min(len(when), len(stamp))]); found && err == nil && e.IsDir() {
			aside = append(aside, filepath.Join(filepath.Dir(folder), e.Name()))
		}
	}
	for _, name := range aside[:max(0, len(aside)-maxQuarantined)] {
		_ = os.RemoveAll(name)
	}
}
