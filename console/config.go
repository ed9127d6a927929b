package console

// Config is the table [console] of config.toml, where each key is explained for users.
type Config struct {
	// asked for under /-/; needed there beyond loopback; empty: none; "${NAME}" is taken from the environment
	Token string   `toml:"token"`
	Hosts []string `toml:"hosts"` // Host names allowed under /-/ besides localhost and the listening address; without port
}
