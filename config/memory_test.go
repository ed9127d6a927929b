package config

import "testing"

func TestAMemoryNeedsAModelToAsk(t *testing.T) {
	f := refusals(t)
	const on, asks = "[memory]\nenabled = true\n", "[summarize]\nmodel = \"small\"\n"
	f(on+asks, "")
	f(on, "config.toml:2: cannot use memory.enabled without a model to ask: write summarize.model as well")
	for _, mode := range []string{"hybrid", "llm", "auto"} {
		f(on+asks+"mode = \""+mode+"\"", "")
	}
	for _, mode := range []string{"intent", "window", "lossless"} {
		f(on+asks+"mode = \""+mode+"\"", "cannot use memory.enabled with summarize.mode = \""+mode+
			"\", in which no model is asked: write auto, hybrid or llm")
	}
	f("[summarize]\nmode = \"intent\"", "")
}

func TestAMemoryIsKeptForATime(t *testing.T) {
	f := refusals(t)
	f("[memory]\nafter = \"0s\"", "cannot use memory.after 0s: it must be greater than zero")
	f("[memory]\nkeep = \"0s\"", "cannot use memory.keep 0s: it must be greater than zero")
	f("[memory]\nafter = \"1s\"\nkeep = \"24h\"", "")
}
