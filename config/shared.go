package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"epitome/internal/unit"
	"epitome/store/shared"
)

// mostTimeout keeps an agent from waiting long for a store that does not answer.
const mostTimeout = 5 * time.Second

// Server is where the shared store is, and by what it is reached.
func (c StoreConfig) Server() shared.Server {
	return shared.Server{URL: c.URL, SentinelPassword: c.SentinelPassword, CA: c.CA, Cert: c.Cert, Key: c.Key}
}

// ArtifactsAt is where artifacts are served by an epitome that listens there, unless c names another place.
func ArtifactsAt(c Config, listen string) string {
	if c.Offload.URL != "" {
		return strings.TrimSuffix(c.Offload.URL, "/") + "/"
	}
	return URLAt(c, Reachable(listen)) + "/-/artifacts/"
}

// checkShared refuses what several epitomes could not have in common.
func checkShared(c Config) error {
	if err := checkArtifactURL(c); err != nil {
		return err
	}
	s, o := c.Store, c.Offload
	if s.URL == "" {
		if o.Folder != "" {
			return unit.Wrong([]string{"offload", "folder"},
				"cannot use offload.folder: it is for epitomes that share a store; write its url in [store], or give a folder "+
					"with data")
		}
		return nil
	}
	if err := s.Server().Check(); err != nil {
		return unit.Wrong([]string{"store", "url"}, "cannot use store.url: %w", err)
	}
	if strings.ContainsAny(s.Prefix, "{} \t\r\n") {
		return unit.Wrong([]string{"store", "prefix"},
			"cannot use store.prefix %q: write letters, digits and signs, without spaces and braces", s.Prefix)
	}
	if s.Timeout.D() < time.Millisecond || s.Timeout.D() > mostTimeout {
		return unit.Wrong([]string{"store", "timeout"}, "cannot use store.timeout %s: write 1ms to %v", s.Timeout, mostTimeout)
	}
	switch {
	case o.Folder != "" && o.Bucket != "":
		return unit.Wrong([]string{"offload", "folder"}, "cannot use offload.folder with offload.bucket: artifacts lie in one "+
			"of them; take the other out")
	case o.Bucket == "" && !filepath.IsAbs(o.Folder):
		return unit.Wrong([]string{"store", "url"}, "cannot use store.url without offload.folder: what is taken out of "+
			"conversations must lie where all epitomes find it; write the absolute path of a folder that they share, or a bucket")
	case o.URL == "" && (o.Address == "url" || o.Address == "both" || o.Bucket != "" && o.Place() == "path"):
		return unit.Wrong([]string{"offload", "address"}, "cannot use offload.address %q with store.url: agents would be told "+
			"the address of one epitome among several; write in offload.url the one that leads to all", o.Address)
	}
	return nil
}

// checkArtifactURL refuses an address that agents elsewhere cannot reach.
func checkArtifactURL(c Config) error {
	if c.Offload.URL == "" {
		return nil
	}
	at := []string{"offload", "url"}
	if err := CheckURL(c.Offload.URL); err != nil {
		return unit.Wrong(at, "cannot use offload.url: %w", err)
	}
	u, err := url.Parse(c.Offload.URL)
	if err != nil {
		return unit.Wrong(at, "cannot use offload.url: write an absolute http or https URL")
	}
	host, _, _ := net.SplitHostPort(c.Listen)
	if isLoopback(u.Hostname()) && !isLoopback(host) {
		return unit.Wrong(at, "cannot use offload.url %s: it is an address of this machine alone, and epitome listens beyond "+
			"it; write the one by which agents reach it", c.Offload.URL)
	}
	return nil
}

// isLoopback reports whether a host is this machine, for itself alone.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
