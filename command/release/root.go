package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// nobody is the user and group in a container: by custom one without rights, whom no machine has.
const nobody = 65532

// certificates are where systems keep the authorities that they trust.
func certificates() []string {
	return []string{os.Getenv("SSL_CERT_FILE"), "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/cert.pem"}
}

// writeRoot writes the files of a container into the folder: the program for Linux on this machine's processor, the
// authorities that this machine trusts, the licences, and the folder for data, which belongs to nobody.
func (c *checkout) writeRoot(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	b, err := c.build(target{"linux", host().machine}, stripped)
	if err != nil {
		return err
	}
	trusted, err := trustedHere()
	if err != nil {
		return err
	}
	parts, err := c.parts(b)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(b.file)
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(c.source(), "LICENSE"))
	if err != nil {
		return err
	}
	for _, f := range []file{
		{name: "epitome", text: program, runs: true},
		{name: "etc/ssl/certs/ca-certificates.crt", text: trusted},
		{name: "etc/passwd", text: fmt.Appendf(nil, "epitome:x:%d:%d::/data:/nonexistent\n", nobody, nobody)},
		{name: "etc/group", text: fmt.Appendf(nil, "epitome:x:%d:\n", nobody)},
		{name: "licenses/LICENSE", text: own}, {name: "licenses/LICENSES.txt", text: notices(parts)},
	} {
		if err := place(folder, f); err != nil {
			return err
		}
	}
	return ownData(filepath.Join(folder, "data"))
}

// place writes a file of the container.
func place(folder string, f file) error {
	path := filepath.Join(folder, filepath.FromSlash(f.name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, f.text, f.mode())
}

// ownData makes the folder for data. Only root can give it away; the image does that where this cannot.
func ownData(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := os.Chown(folder, nobody, nobody); err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}

func trustedHere() ([]byte, error) {
	for _, path := range certificates() {
		if text, err := os.ReadFile(path); err == nil {
			return text, nil
		}
	}
	return nil, errors.New("cannot find the certificates that this machine trusts: install ca-certificates, or name their file in SSL_CERT_FILE")
}
