package command

import (
	"os"

	"epitome/bench/counting"
)

type tokensCmd struct {
	verdict
	Files []string `arg:"" optional:"" placeholder:"FILES" help:"Files of text to count, each reported by itself. Default: samples of prose, code, JSON, logs and CJK."`
	Quick bool     `help:"Run briefly, to see that everything works. The figures then mean little."`
}

func (k tokensCmd) Run(*cli) error {
	ctx, stop := untilSignal()
	defer stop()
	r, err := counting.Run(ctx, counting.Options{Files: k.Files, Quick: k.Quick, Progress: os.Stderr})
	if err != nil {
		return err
	}
	return k.report(r)
}
