package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// badge lets commands of the same user find a running epitome and be sure that it is one. It lies in the data
// folder, readable by its owner alone; whoever can answer with its secret has been able to read it. So a program
// of somebody else's that sits on the port is never given a credential.
type badge struct {
	Listen string `json:"listen"`
	PID    int    `json:"pid"`
	Secret string `json:"secret"`

	path string
}

const badgeFile = "running.json"

// pinBadge makes the data folder, if need be, and puts a new badge into it.
func pinBadge(folder, listen string) (*badge, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, noFolder(folder, err)
	}
	b := &badge{Listen: reachable(listen), PID: os.Getpid(), Secret: rand.Text(), path: filepath.Join(folder, badgeFile)}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	fresh := fmt.Sprintf("%s.%d", b.path, b.PID)
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write to the data folder %s: %w; give one that can be written with --data", folder, pathCause(err))
	}
	if err := os.Rename(fresh, b.path); err != nil {
		_ = os.Remove(fresh)
		return nil, fmt.Errorf("cannot write to the data folder %s: %w; give one that can be written with --data", folder, pathCause(err))
	}
	return b, nil
}

// readBadge returns the badge in the folder, if there is one.
func readBadge(folder string) (*badge, error) {
	b := &badge{path: filepath.Join(folder, badgeFile)}
	text, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", b.path, err)
	}
	return b, nil
}

// unpin takes the badge away, unless another epitome has put its own in its place.
func (b *badge) unpin() {
	if now, err := readBadge(filepath.Dir(b.path)); err == nil && now.Secret == b.Secret {
		_ = os.Remove(b.path)
	}
}

// proof answers a challenge as the program that runs.
func (b *badge) proof(nonce string) string { return b.sign("program", nonce) }

// claim shows to the program that it is asked by its owner. It tells a program that is not the badge's nothing.
func (b *badge) claim(nonce string) string { return b.sign("owner", nonce) }

// mark stands for a text: it shows who can read the data folder whether another text is the same, and everybody else nothing.
func (b *badge) mark(text string) string { return b.sign("mark", text) }

func (b *badge) sign(who, nonce string) string {
	mac := hmac.New(sha256.New, []byte(b.Secret))
	mac.Write([]byte(who + " " + nonce))
	return hex.EncodeToString(mac.Sum(nil))
}

// admits reports whether a claim is right.
func (b *badge) admits(nonce, claim string) bool {
	return nonce != "" && hmac.Equal([]byte(b.claim(nonce)), []byte(claim))
}

// proves reports whether the answer to a challenge is right.
func (b *badge) proves(nonce, answer string) bool {
	return hmac.Equal([]byte(b.proof(nonce)), []byte(answer))
}
