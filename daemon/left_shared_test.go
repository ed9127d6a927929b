package daemon

import (
	"io"
	"testing"

	"epitome/store/shared/sharedtest"
)

// TestSharedArtifactsAreReadWhileNobodyServes: they lie in the folder that all have, whoever has put them there.
func TestSharedArtifactsAreReadWhileNobodyServes(t *testing.T) {
	p := placeIn(t, sharedtest.Start(t).URL(), nil)
	r := p.run(t)
	name := r.storage.shelf.Name("scope", []byte("content"))
	if err := r.storage.shelf.Put(name, []byte("content")); err != nil {
		t.Fatal(err)
	}
	r.close()
	other := placeIn(t, p.conf.Store.URL, nil) // another machine, with the same folder
	other.conf.Offload.Folder = p.conf.Offload.Folder
	other.run(t).close()
	left, err := OpenLeft(other.conf, other.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = left.Close() }()
	content, _, err := left.Artifacts().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	if text, err := io.ReadAll(content); err != nil || string(text) != "content" {
		t.Errorf("%q, %v", text, err)
	}
}
