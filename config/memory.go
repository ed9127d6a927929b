package config

import (
	"epitome/internal/unit"
)

// checkMemory says why sessions cannot be learned from, if they are to be.
func checkMemory(c Config) error {
	if err := c.Memory.Check(); err != nil {
		return err
	}
	switch {
	case !c.Memory.Enabled:
		return nil
	case c.Summarize.Model == "":
		return unit.Wrong([]string{"memory", "enabled"},
			"cannot use memory.enabled without a model to ask: write summarize.model as well")
	case !c.Summarize.Mode.Asks():
		return unit.Wrong([]string{"memory", "enabled"},
			"cannot use memory.enabled with summarize.mode = %q, in which no model is asked: write auto, hybrid or llm",
			c.Summarize.Mode)
	}
	return nil
}
