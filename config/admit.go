package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"epitome/internal/unit"
	"epitome/proxy"
)

// Admit refuses what cannot be served, as far as that shows without taking the port or the data folder, which it
// returns.
func (c Config) Admit() (folder string, err error) {
	defer func() { err = c.from.locate(err) }()
	if folder, err = c.DataFolder(); err != nil {
		return "", err
	}
	if err = checkFolder(folder); err != nil {
		return "", err
	}
	if err = CheckFormat(folder); err != nil {
		return "", err
	}
	if err = checkLogFile(c.Log.File); err != nil {
		return "", err
	}
	if err = admitContexts(c, folder); err != nil {
		return "", err
	}
	address, err := listening(c.Listen)
	if err != nil {
		return "", err
	}
	if err = cmp.Or(c.CheckAt(address), c.TLS.Check()); err != nil {
		return "", err
	}
	return folder, proxy.Check(c.Settings())
}

// CheckAt refuses what c must not do when epitome listens at the address.
func (c Config) CheckAt(address string) error {
	return cmp.Or(checkLoop(c, address), checkOpen(c, address), checkReach(c, address))
}

// checkFolder refuses a data folder that cannot be made or written, or is none, as pinBadge would.
func checkFolder(folder string) error {
	for at := folder; ; at = filepath.Dir(at) {
		s, err := os.Stat(at)
		switch {
		case err == nil && s.IsDir():
			if err = cmp.Or(mayWrite(at), mayMake(at, folder)); err != nil {
				return NoFolder(folder, err)
			}
			return nil
		case err == nil:
			return NoFolder(folder, syscall.ENOTDIR)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return NoFolder(folder, err)
		case at == filepath.Dir(at):
			return nil
		}
	}
}

// mayMake reports why no folder can be made in the one at, if the data folder is not there already. Some, as /proc,
// take none whatever their mode says: only one that is made for a moment shows that.
func mayMake(at, folder string) error {
	if at == folder {
		return nil
	}
	made, err := os.MkdirTemp(at, ".epitome-")
	if err != nil {
		return err
	}
	return os.Remove(made)
}

// NoFolder is the error of a data folder that cannot be made.
func NoFolder(folder string, err error) error {
	return unit.Wrong([]string{"data"}, "cannot make the data folder %s: %w; give one that can be written with --data", folder, PathCause(err))
}

// network is the one that an address is listened on in: of the two families, the one that it is written in.
func network(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil && net.ParseIP(host).To4() != nil {
		return "tcp4"
	}
	return "tcp"
}

// listening is the address that a listener on the given one has, if it is one of this machine's. Any free port there is
// taken for a moment, to see that.
func listening(address string) (string, error) {
	at, err := net.ResolveTCPAddr(network(address), address)
	if err != nil {
		return "", noListener(address, err)
	}
	if at.IP == nil {
		at.IP = net.IPv6unspecified
		return at.String(), nil
	}
	ln, err := net.ListenTCP(network(address), &net.TCPAddr{IP: at.IP, Zone: at.Zone})
	if err != nil {
		return "", noListener(address, err)
	}
	return at.String(), ln.Close()
}

// Listen takes the address.
func Listen(address string) (net.Listener, error) {
	ln, err := net.Listen(network(address), address)
	if err != nil {
		return nil, noListener(address, err)
	}
	return ln, nil
}

// Take takes the address that c is to listen on, and has clients there speak TLS if c has a certificate.
func Take(c Config, log *slog.Logger) (net.Listener, error) {
	ln, err := Listen(c.Listen)
	if err != nil {
		return nil, err
	}
	secure, err := c.TLS.Listen(ln, log)
	if err != nil {
		_ = ln.Close()
		return nil, err
	}
	return secure, nil
}

// URLAt is the URL under which clients reach an address that c listens on.
func URLAt(c Config, address string) string {
	if c.TLS.IsSet() {
		return "https://" + address
	}
	return "http://" + address
}

// noListener is the error of an address that cannot be listened on.
func noListener(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("cannot listen on %s: %w; stop what listens there, or give another address with --listen", address, err)
	}
	return unit.Wrong([]string{"listen"}, "cannot listen on %s: %w; give an address of this machine with --listen", address, err)
}

// checkLoop refuses upstreams that are this program itself.
func checkLoop(c Config, address string) error {
	_, port, _ := net.SplitHostPort(address)
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		u := c.Upstreams[name]
		at, err := url.Parse(u.URL)
		if err != nil || at.Host != address && at.Host != "localhost:"+port && at.Host != Reachable(address) {
			continue
		}
		return unit.Wrong([]string{"upstreams", name, "url"},
			"cannot use upstream %s: its url %s is where epitome itself listens; give the provider's", name, u.URL)
	}
	return nil
}
