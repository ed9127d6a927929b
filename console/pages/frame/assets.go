package frame

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"

	"epitome/console/markup"
)

//go:embed assets
var files embed.FS

// assets are the files that pages refer to. Their names have a hash of what is in them, so that no browser shows a new
// page with an old script.
type assets struct {
	style, script, icon markup.Address
	contents            map[string]asset
}

type asset struct {
	kind    string
	content []byte
}

func newAssets() assets {
	a := assets{contents: make(map[string]asset)}
	a.style = a.add("console.css", "text/css; charset=utf-8")
	a.script = a.add("console.js", "text/javascript; charset=utf-8")
	a.icon = a.add("icon.svg", "image/svg+xml")
	return a
}

// add takes a file up, and returns its address.
func (a assets) add(file, kind string) markup.Address {
	content, err := files.ReadFile("assets/" + file)
	if err != nil {
		panic("BUG: cannot read an embedded file: " + err.Error())
	}
	ending := path.Ext(file)
	if ending == ".js" {
		content = shortened(content)
	}
	sum := sha256.Sum256(content)
	name := strings.TrimSuffix(file, ending) + "-" + hex.EncodeToString(sum[:6]) + ending
	a.contents[name] = asset{kind, content}
	return markup.At("assets", name)
}

// shortened leaves out of a script what is for who reads its source: lines that are comments, and what lines begin
// with. No text in it goes over several lines.
func shortened(script []byte) (left []byte) {
	for line := range bytes.Lines(script) {
		if line = bytes.TrimLeft(line, " "); !bytes.HasPrefix(line, []byte("//")) {
			left = append(left, line...)
		}
	}
	return left
}

// serve answers with a file; what its name stands for never changes.
func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a.contents[r.PathValue("file")]
	if !ok {
		http.Error(w, "there is no such file; load the page again", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.content) // a client that has left is no error of ours
}
