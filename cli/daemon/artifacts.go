package daemon

import (
	"os"
	"path/filepath"

	"epitome/config"
	"epitome/offload"
)

// OpenArtifacts opens the artifacts of a data folder, whether an epitome runs with it or not. The error is
// offload.ErrUnknown if there are none.
func OpenArtifacts(conf config.Config, folder string) (*offload.Shelf, error) {
	if err := config.CheckFormat(folder); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(shelfFolder(conf, folder), ArtifactFolder)); err != nil && conf.Offload.Bucket == "" {
		return nil, offload.ErrUnknown
	}
	return openShelfLeft(conf, folder)
}
