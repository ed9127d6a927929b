package console

// Config is the table [console] of config.toml, where each key is explained for users.
type Config struct {
	// Token is asked for under /-/, and required there beyond loopback. Empty means none; "${NAME}" is taken from the
	// environment.
	Token string `toml:"token"`
	// Hosts are the host names allowed under /-/ besides localhost and the listening address, without port.
	Hosts []string `toml:"hosts"`
}
