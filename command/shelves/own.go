package shelves

import (
	"io"
	"slices"
	"sync"

	"epitome/config"
	"epitome/daemon"
	"epitome/instance"
	"epitome/offload"
)

// Own are the artifacts of this user's epitomes, as tools read them.
type Own struct {
	Load func() (config.Config, error) // the configuration, read each time: an epitome may have been started meanwhile

	mu sync.Mutex // held while one is opened: of a folder that nobody serves, one has the store
}

// Open returns the content under a name, which the caller closes, and its size in bytes.
func (o *Own) Open(name string) (io.ReadCloser, int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	conf, home, err := o.place()
	if err != nil {
		return nil, 0, err
	}
	return Open(conf, home, name)
}

// Lines reads which lines are wanted.
func (*Own) Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error) {
	return daemon.Artifacts{}.Lines(lines, grep)
}

// Beginning are the names that begin with these letters.
func (o *Own) Beginning(letters string) ([]string, error) {
	conf, home, err := o.place()
	if err != nil {
		return nil, err
	}
	return Beginning(conf, home, letters)
}

// place is the configuration, and the data folder that it says.
func (o *Own) place() (conf config.Config, home string, err error) {
	if conf, err = o.Load(); err != nil {
		return conf, "", err
	}
	home, err = conf.DataFolder()
	return conf, home, err
}

// Beginning are the names of artifacts that begin with these letters and lie as files in a data folder, in one of those
// below it that "epitome run" makes, or in the one that several epitomes share. Those in a bucket are not among them.
func Beginning(conf config.Config, home, letters string) (names []string, err error) {
	folders := instance.FoldersIn(home)
	if conf.Store.URL != "" && conf.Offload.Folder != "" {
		folders = append(folders, conf.Offload.Folder)
	}
	for _, folder := range folders {
		some, err := offload.NamesIn(folder, letters)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
