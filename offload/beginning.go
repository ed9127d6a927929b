package offload

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"epitome/store"
)

// BeginningOf is how names begin that a pattern means: some of their letters, with a * behind them. ok is false if the
// text is no pattern.
func BeginningOf(pattern string) (beginning string, ok bool) {
	beginning, ok = strings.CutSuffix(pattern, "*")
	return beginning, ok && len(beginning) < nameLength && strings.Trim(beginning, alphabet) == ""
}

// NamesIn are the names of artifacts that lie as files in a data folder and begin so, each once. It opens none of them,
// and whoever may list the folder learns nothing new.
func NamesIn(folder, beginning string) (names []string, err error) {
	const atOnce = 1 << 10
	f, err := os.Open(filepath.Join(folder, "artifacts"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		files, err := f.Readdirnames(atOnce)
		for _, file := range files {
			name := strings.TrimSuffix(file, extension)
			if strings.HasPrefix(name, beginning) && IsName(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// NamesOn are the first two names of artifacts that the shelf has put or met and that begin so. Whoever lets strangers
// ask wants so many letters that none can be guessed.
func NamesOn(s *Shelf, letters string) (names []string, err error) {
	const most = 2 // more than one is no answer
	err = s.catalogue.facts.Scan(keyOf(letters), func(key string, _ store.Fact) bool {
		if name := strings.TrimPrefix(key, FactKeys); IsName(name) {
			names = append(names, name)
		}
		return len(names) < most
	})
	return names, ofStore(err)
}
