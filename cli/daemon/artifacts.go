package daemon

import (
	"log/slog"
	"os"
	"path/filepath"

	"epitome/config"
	"epitome/offload"
)

// OpenArtifacts opens the artifacts of a data folder, whether an epitome runs with it or not. The error is
// offload.ErrUnknown if there are none.
func OpenArtifacts(conf config.Config, folder string) (*offload.Shelf, error) {
	o, err := shelfOptions(conf, conf.Listen, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if conf.Offload.Bucket != "" {
		return offload.OpenBucket(conf.Offload.Bucket, o)
	}
	folder = shelfFolder(conf, folder)
	if _, err := os.Stat(filepath.Join(folder, ArtifactFolder)); err != nil {
		return nil, offload.ErrUnknown
	}
	return offload.OpenFolder(folder, o)
}
