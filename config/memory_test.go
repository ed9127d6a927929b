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
	f("[memory]\nwebhook_wait = \"0s\"", "cannot use memory.webhook_wait 0s: it must be greater than zero")
	f("[memory]\nafter = \"1s\"\nkeep = \"24h\"", "")
}

func TestAMemoryGoesToASafeAddress(t *testing.T) {
	f := refusals(t)
	const wrong = "cannot use memory.webhook: write an absolute https URL, as in https://example.com/memory; " +
		"http is for this machine and its network"
	f("[memory]\nwebhook = \"https://example.com/memory\"", "")
	f("[memory]\nwebhook = \"http://127.0.0.1:8080/memory\"", "")
	f("[memory]\nwebhook = \"http://10.0.0.7/memory\"", "")
	f("[memory]\nwebhook = \"http://example.com/s3cret\"", wrong)
	f("[memory]\nwebhook = \"ftp://127.0.0.1/memory\"", wrong)
	f("[memory]\nwebhook = \"memory\"", wrong)
	f("[memory]\nwebhook = \"${EPITOME_NOT_SET}\"",
		"cannot use memory.webhook: the environment variable EPITOME_NOT_SET is not set or empty; "+
			"set it, or take out ${EPITOME_NOT_SET}")
}
