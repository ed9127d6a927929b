package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"epitome/proxy"
)

// clientsFile is a file of clients beside those in config.toml, as a team's tool or a Secret writes it.
type clientsFile struct {
	Clients map[string]proxy.ClientConfig `toml:"clients"`
}

// readClients adds what the files at clients_file say to the clients of config.toml.
func (c *Config) readClients() error {
	if c.ClientsFile == "" {
		return nil
	}
	files, err := c.clientsFiles()
	if err != nil {
		return fmt.Errorf("clients_file: %w", err)
	}
	all := map[string]proxy.ClientConfig{}
	maps.Copy(all, c.Clients)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("clients_file: %w", err)
		}
		var more clientsFile
		if err := decodeStrictly(string(text), &more); err != nil {
			return fmt.Errorf("clients_file: %w", located(file, err))
		}
		for name, client := range more.Clients {
			if _, isTaken := all[name]; isTaken {
				return fmt.Errorf("clients_file: %s: client %s is a client already: give it another name", file, name)
			}
			all[name] = client
		}
	}
	if len(all) == 0 { // without any, nobody would be asked for a key
		return fmt.Errorf("clients_file: %s has no client; 'epitome key NAME' makes one", c.ClientsFile)
	}
	c.Clients = all
	return nil
}

// clientsFiles returns the files at clients_file: itself, or those in the folder whose names begin with no dot.
func (c *Config) clientsFiles() (files []string, err error) {
	found, err := os.Stat(c.ClientsFile)
	if err != nil || !found.IsDir() {
		return []string{c.ClientsFile}, err
	}
	return filepath.Glob(filepath.Join(c.ClientsFile, "[^.]*"))
}

// ClientsVersion is another text once a file at clients_file has changed, also where a link leads to another file.
func (c *Config) ClientsVersion() (version string) {
	files, err := c.clientsFiles()
	for _, file := range files {
		version += file
		if found, err := os.Stat(file); err == nil {
			version += fmt.Sprint(found.Size(), found.ModTime().UnixNano(), "\n")
		}
	}
	return fmt.Sprint(version, err)
}
