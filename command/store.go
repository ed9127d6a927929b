package command

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"epitome/config"
	"epitome/daemon"
)

type storeCmd struct {
	Copy storeCopyCmd `cmd:"" help:"Copy decisions and artifacts from one place to another, such as from a data folder to what a team shares."`
}

type storeCopyCmd struct {
	From string `arg:"" help:"Where they are: a data folder, or a configuration file (.toml) that says where. No epitome may hold the folder."`
	To   string `arg:"" help:"Where they are to be as well, likewise. What is there already stays as it is there."`
}

// mostTold is how many failures are told one by one.
const mostTold = 10

// Run copies, and fails where not all is there afterwards.
func (k storeCopyCmd) Run(c *cli) error {
	ctx, stop := untilSignal()
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	conf, folder, err := placeOf(c, k.From)
	if err != nil {
		return err
	}
	from, err := daemon.OpenFrom(conf, folder, log)
	if err != nil {
		return err
	}
	defer from.Close()
	if conf, folder, err = placeOf(c, k.To); err != nil {
		return err
	}
	to, err := daemon.OpenTo(from, conf, folder, log)
	if err != nil {
		return err
	}
	defer to.Close()
	done, err := daemon.Copy(ctx, from, to)
	fmt.Printf("Copied %d decisions and other facts (%d were there) and %d artifacts of %d bytes (%d were there).\n", done.Facts,
		done.FactsThere, done.Artifacts, done.Bytes, done.ArtifactsThere)
	if err != nil {
		return fmt.Errorf("cannot copy all: %w; run it again, and it goes on", err)
	}
	for i, why := range done.Failed[:min(len(done.Failed), mostTold)] {
		fmt.Fprintf(os.Stderr, "epitome: %d: %s\n", i+1, why)
	}
	if n := len(done.Failed); n > 0 {
		return fmt.Errorf("cannot copy %d facts and artifacts; mend what is said above, and run it again", n)
	}
	return nil
}

// placeOf is the configuration of a place: what a file says, or the default with another data folder.
func placeOf(c *cli, place string) (conf config.Config, folder string, err error) {
	file, over := place, config.Overrides{}
	if filepath.Ext(place) != ".toml" {
		if over.Data, err = filepath.Abs(place); err != nil {
			return conf, "", err
		}
		file = os.DevNull
	}
	if conf, err = config.Load(c.defaults, file, over); err == nil {
		folder, err = conf.Admit()
	}
	return conf, folder, err
}
