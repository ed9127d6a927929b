package config

import (
	"net/url"

	"epitome/prose"
	"epitome/unit"
)

// checkMemory says why sessions cannot be learned from, if they are to be. It never repeats the URL: that may hold a
// secret.
func checkMemory(c Config) error {
	if err := c.Memory.Check(); err != nil {
		return err
	}
	if raw := c.Memory.Webhook; raw != "" && (!isAddress(raw) || !IsLocal(raw) && !isEncrypted(raw)) {
		return unit.Wrong([]string{"memory", "webhook"},
			"cannot use memory.webhook: write an absolute https URL, as in https://example.com/memory; "+
				"http is for this machine and its network")
	}
	switch {
	case !c.Memory.Enabled:
		return nil
	case c.Summarize.Model == "":
		return unit.Wrong([]string{"memory", "enabled"},
			"cannot use memory.enabled without a model to ask: write summarize.model as well")
	case !prose.Style{Mode: c.Summarize.Mode}.MayAsk():
		return unit.Wrong([]string{"memory", "enabled"},
			"cannot use memory.enabled with summarize.mode = %q, in which no model is asked: write auto, hybrid or llm",
			c.Summarize.Mode)
	}
	return nil
}

// isEncrypted reports whether what is sent to a URL is.
func isEncrypted(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "https"
}
