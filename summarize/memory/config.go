package memory

import "epitome/unit"

// Config is the table [memory] of config.toml, where each key is explained for users.
type Config struct {
	Enabled bool          `toml:"enabled"`
	After   unit.Duration `toml:"after"` // without a request, until a conversation counts as quiet
	Keep    unit.Duration `toml:"keep"`  // of a memory, from its last use
}

// Check says what is wrong with the configuration in itself.
func (c Config) Check() error {
	for _, number := range []struct {
		key   string
		value unit.Duration
	}{{"after", c.After}, {"keep", c.Keep}} {
		if number.value <= 0 {
			return unit.Wrong([]string{"memory", number.key},
				"cannot use memory.%s %s: it must be greater than zero", number.key, number.value)
		}
	}
	return nil
}
