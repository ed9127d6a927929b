package command

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
)

type storeCmd struct {
	Copy storeCopyCmd `cmd:"" help:"Copy decisions and artifacts from one place to another, such as from a data folder to what a team shares."`
}

type storeCopyCmd struct {
	From string `arg:"" help:"Where they are: a data folder, or a configuration file (.toml) that says where. No epitome may hold the folder."`
	To   string `arg:"" help:"Where they are to be as well, likewise. What is there already stays as it is there."`
}

// Run copies, and fails where not all is there afterwards.
func (k storeCopyCmd) Run(c *cli) error {
	if c.Config != "" || c.Data != "" {
		return errors.New("cannot use --config or --data here: name both places by FROM and TO")
	}
	ctx, stop := untilSignal()
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	conf, folder, err := placeOf(c, k.From)
	if err != nil {
		return err
	}
	kept := whose(conf)
	from, err := daemon.OpenFrom(conf, folder, log)
	if err != nil {
		return err
	}
	defer from.Close()
	if conf, folder, err = placeOf(c, k.To); err != nil {
		return err
	}
	if there := whose(conf); there != kept {
		fmt.Fprintf(os.Stderr, "epitome: what is copied was kept for %s, and is looked for there for %s: decisions are found only "+
			"where scope says the same in both configurations\n", kept, there)
	}
	to, err := daemon.OpenTo(from, conf, folder, log)
	if err != nil {
		return err
	}
	defer to.Close()
	done, err := daemon.Copy(ctx, from, to)
	fmt.Printf("Copied %d decisions and other facts (%d were there) and %d artifacts of %d bytes (%d were there).\n", done.Facts,
		done.FactsThere, done.Artifacts, done.Bytes, done.ArtifactsThere)
	for _, why := range done.Why {
		fmt.Fprintln(os.Stderr, "epitome: not copied: "+why)
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("cannot copy all: it was ended; run it again, and it goes on")
	case err != nil:
		return fmt.Errorf("cannot copy all: %w; run it again, and it goes on", err)
	case done.Failed > 0:
		return fmt.Errorf("cannot copy %d facts and artifacts; facts are copied once all artifacts are there; mend what is "+
			"said above, and run it again", done.Failed)
	}
	return nil
}

// whose says for whom a place keeps decisions.
func whose(conf config.Config) string {
	switch {
	case conf.Scope != "auto":
		return "scope " + conf.Scope
	case len(conf.Clients) > 0:
		return "each client"
	case console.Loopback(conf.Listen):
		return "scope shared"
	}
	return "scope credential"
}

// placeOf is the configuration of a place: what a file says, or the default with another data folder.
func placeOf(c *cli, place string) (conf config.Config, folder string, err error) {
	file, over := place, config.Overrides{}
	if !strings.EqualFold(filepath.Ext(place), ".toml") {
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
