package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"epitome/console"
	"epitome/internal/unit"
	"epitome/proxy"
)

// checkClients says what is wrong with who may use epitome, and by which certificate they trust it.
func checkClients(c Config) error {
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		return unit.Wrong([]string{"tls"}, "cannot use [tls]: cert_file and key_file belong together; write both or neither")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Clients)) {
		if err := checkClient(c, name); err != nil {
			return err
		}
	}
	return proxy.CheckClients(c.Clients)
}

// checkClient says what is wrong with one client.
func checkClient(c Config, name string) error {
	client, table := c.Clients[name], []string{"clients", name}
	if err := CheckClientName(name); err != nil {
		return unit.Wrong(table, "%w", err)
	}
	if len(client.Keys) == 0 {
		return unit.Wrong(append(table, "keys"), "cannot use client %s: it has no keys; "+
			"'epitome key %s' makes one and prints what to write, or remove the table", name, name)
	}
	for _, u := range client.Upstreams {
		if _, known := c.Upstreams[u]; !known {
			return unit.Wrong(append(table, "upstreams"), "cannot use clients.%s.upstreams: unknown upstream %q; write some of %s",
				name, u, strings.Join(slices.Sorted(maps.Keys(c.Upstreams)), ", "))
		}
	}
	for _, limit := range []struct {
		key  string
		most int
	}{
		{"requests_per_minute", client.RequestsPerMinute}, {"tokens_per_minute", client.TokensPerMinute},
	} {
		if limit.most < 0 {
			return unit.Wrong(append(table, limit.key), "cannot use clients.%s.%s %d: write a number above zero, or leave it out for no limit",
				name, limit.key, limit.most)
		}
	}
	return nil
}

// CheckClientName refuses what cannot be the name of a client.
func CheckClientName(name string) error {
	if strings.Trim(name, letters+"._-") != "" || strings.IndexAny(name, letters) != 0 {
		return fmt.Errorf("cannot use the client name %q: write a-z, 0-9, dot, dash and underscore, with a letter or digit first", name)
	}
	return nil
}

// checkOpen refuses to add credentials to the requests of whoever reaches the address, unless that is asked for.
func checkOpen(c Config, address string) error {
	if c.Open || len(c.Clients) > 0 || console.Loopback(address) {
		return nil
	}
	key := credentialIn(c)
	if key == nil {
		return nil
	}
	return &unit.KeyError{Keys: [][]string{key, {"listen"}}, Err: fmt.Errorf(
		"cannot listen on %s: whoever reaches it could spend what %s adds; give clients keys of their own in [clients], or write open = true",
		address, strings.Join(key, "."))}
}

// credentialIn is a key under which a credential may stand that requests get here; nil if there is none.
func credentialIn(c Config) []string {
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		u := c.Upstreams[name]
		for _, h := range slices.Sorted(maps.Keys(u.Headers)) {
			if u.Headers[h] != "" {
				return []string{"upstreams", name, "headers", h}
			}
		}
		if u.TLS.CertFile != "" {
			return []string{"upstreams", name, "tls", "cert_file"}
		}
	}
	if c.Summarize.KeyEnv != "" {
		return []string{"summarize", "key_env"}
	}
	return nil
}

// Private is the configuration of an epitome that its user alone reaches, on an address of its own.
func (c Config) Private() Config {
	c.Clients, c.TLS, c.Open = nil, proxy.Certificate{}, false
	return c
}
