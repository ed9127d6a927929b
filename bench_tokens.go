package main

import (
	"os"

	"epitome/bench"
)

type tokensCmd struct {
	verdict
	Files []string `arg:"" optional:"" placeholder:"FILES" help:"Texts to count, each a kind of its own. Default: prose, code, JSON, logs and CJK samples."`
	Quick bool     `help:"A short run, to see that everything works; its figures mean little."`
}

func (k tokensCmd) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	r, err := bench.Tokens(ctx, bench.TokensOptions{Files: k.Files, Quick: k.Quick, Progress: os.Stderr})
	if err != nil {
		return err
	}
	return k.report(r)
}
