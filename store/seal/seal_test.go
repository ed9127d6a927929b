package seal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func keyOf(t testing.TB, text string) *Key {
	t.Helper()
	key, err := parseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sealOf(t testing.TB) *Seal {
	t.Helper()
	s, err := Open(t.TempDir(), keyOf(t, FreshKey()), true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

func contentOf(s *Seal, name string, sealed []byte) ([]byte, error) {
	r, err := s.OpenFile(name, file{bytes.NewReader(sealed)})
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func TestFilesComeBack(t *testing.T) {
	s := sealOf(t)
	for _, size := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 2 * chunkSize, 3*chunkSize + 7} {
		content := bytes.Repeat([]byte("conversation "), size/13+1)[:size]
		sealed := s.File("name", content)
		if bytes.Contains(sealed, []byte("conversation")) {
			t.Errorf("%d bytes: the text stands in the sealed file", size)
		}
		if got := ContentSize(int64(len(sealed))); got != int64(size) {
			t.Errorf("ContentSize says %d of a content of %d", got, size)
		}
		if got, err := contentOf(s, "name", sealed); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes came back as %d, %v", size, len(got), err)
		}
		if _, err := contentOf(s, "other", sealed); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes under another name: %v", size, err)
		}
		if bytes.Equal(sealed, s.File("name", content)) {
			t.Errorf("%d bytes are sealed alike twice", size)
		}
	}
}

// TestDamagedFilesAreRefused changes and cuts a file everywhere: no byte comes out that was not put in.
func TestDamagedFilesAreRefused(t *testing.T) {
	s := sealOf(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), (2*chunkSize+100)/16)
	sealed := s.File("name", content)
	rapid.Check(t, func(t *rapid.T) {
		bad := bytes.Clone(sealed)
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			bad[rapid.IntRange(0, len(bad)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case 1:
			bad = bad[:rapid.IntRange(0, len(bad)-1).Draw(t, "cut")]
		case 2: // the last chunk is gone, or two have changed places
			bad = bad[:fileHead+2*(chunkSize+chunkMore)]
		case 3:
			const size = chunkSize + chunkMore
			first, second := bad[fileHead:][:size], bad[fileHead+size:][:size]
			was := bytes.Clone(first)
			copy(first, second)
			copy(second, was)
		}
		got, err := contentOf(s, "name", bad)
		if !errors.Is(err, ErrDamaged) {
			t.Fatalf("got %d bytes, %v", len(got), err)
		}
		if !bytes.HasPrefix(content, got) {
			t.Fatal("bytes came out that were never put in")
		}
	})
}

func TestFilesAreReadFromAnywhere(t *testing.T) {
	s := sealOf(t)
	content := make([]byte, 3*chunkSize+100)
	for i := range content {
		content[i] = byte(i * 7 / 3)
	}
	r, err := s.OpenFile("name", file{bytes.NewReader(s.File("name", content))})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{5, chunkSize - 1, 3 * chunkSize, 0, int64(len(content)), 2*chunkSize + 1} {
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content[at:]) {
			t.Errorf("from %d: %d bytes, %v; want %d", at, len(got), err, len(content[at:]))
		}
	}
}

func TestRecordsAreBoundToTheirNames(t *testing.T) {
	s := sealOf(t)
	name := s.RecordName("the key")
	sealed := s.Record(name, "the key", []byte("the record"))
	if key, record, err := s.OpenRecord(name, sealed); key != "the key" || string(record) != "the record" || err != nil {
		t.Errorf("opened %q, %q, %v", key, record, err)
	}
	if bytes.Contains(append(name, sealed...), []byte("the key")) || bytes.Contains(sealed, []byte("the record")) {
		t.Error("key or record stand in what is sealed")
	}
	f := func(what string, name, sealed []byte) {
		t.Helper()
		if _, _, err := s.OpenRecord(name, sealed); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	f("another name", s.RecordName("the other key"), sealed)
	f("nothing", name, nil)
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		f("a changed byte", name, bad)
	}
}

func TestFolderOpensWithItsKeyAlone(t *testing.T) {
	folder, key := filepath.Join(t.TempDir(), "data"), keyOf(t, FreshKey())
	f := func(what string, key *Key, wanted bool, want string) {
		t.Helper()
		checked := Check(folder, key, wanted)
		s, err := Open(folder, key, wanted)
		if (err == nil) != (checked == nil) {
			t.Errorf("%s: Check says %v, Open %v", what, checked, err)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", what, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one sentence: %v", what, err)
		}
		if err == nil && s.Writes() != wanted {
			t.Errorf("%s: it writes %v", what, s.Writes())
		}
	}
	f("nothing is asked for", nil, false, "")
	f("a key that is not used", key, false, "")
	f("no key", nil, true, "no key is given")
	f("the first start", key, true, "")
	f("the second start", key, true, "")
	f("no seal any more", key, false, "")
	f("no seal and no key", nil, false, "is sealed, and no key is given")
	f("no key any more", nil, true, "is sealed, and no key is given")
	f("another key", keyOf(t, FreshKey()), true, "not the one")
	f("another key to read", keyOf(t, FreshKey()), false, "not the one")
	if err := os.WriteFile(filepath.Join(folder, FileName), []byte("epitome-seal-1 00"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("a damaged mark", key, true, "is damaged")
}

func TestFoldersHaveKeysOfTheirOwn(t *testing.T) {
	key := keyOf(t, FreshKey())
	one, err := Open(t.TempDir(), key, true)
	other, err2 := Open(t.TempDir(), key, true)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	name := one.RecordName("key")
	if bytes.Equal(name, other.RecordName("key")) || bytes.Equal(one.NameKey(nil), other.NameKey(nil)) {
		t.Error("names are the same in two folders")
	}
	if _, _, err := other.OpenRecord(name, one.Record(name, "key", nil)); !errors.Is(err, ErrDamaged) {
		t.Errorf("what one folder sealed opens in another: %v", err)
	}
}

func TestKeysAreFound(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	good := FreshKey()
	put := func(name, text string, mode os.FileMode) string {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	f := func(what, env, file, want string) {
		t.Helper()
		key, err := FindKey(func(string) (string, bool) { return env, env != "" }, file, folder)
		if want == "" {
			if err != nil || key == nil || *key != *keyOf(t, good) {
				t.Errorf("%s: %v, %v", what, key, err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), good[:20]) {
			t.Errorf("%s: %v; want %q, and nothing of the key", what, err, want)
		}
	}
	private := put(filepath.Join(outside, "key"), good+"\n", 0o600)
	f("environment", good, "", "")
	f("file", "", private, "")
	f("both", good, private, "one of the two places")
	f("a short key", good[:40], "", "64 hexadecimal digits")
	f("no hexadecimal digits", strings.Repeat("key ", 16), "", "64 hexadecimal digits")
	f("a relative path", "", "key", "absolute")
	f("no such file", "", filepath.Join(outside, "none"), "no such file")
	f("a folder", "", outside, "it is no file")
	f("a file without a key", "", put(filepath.Join(outside, "bad"), good[:50]+"zz", 0o600), "64 hexadecimal digits")
	f("in the data folder", "", put(filepath.Join(folder, "key"), good, 0o600), "in the data folder")
	if runtime.GOOS == "windows" {
		return
	}
	f("readable by others", "", put(filepath.Join(outside, "open"), good, 0o640), "chmod 600")
	link := filepath.Join(outside, "link")
	if err := os.Symlink(filepath.Join(folder, "key"), link); err != nil {
		t.Fatal(err)
	}
	f("a link into the data folder", "", link, "in the data folder")
}

func TestNothingIsNoKey(t *testing.T) {
	key, err := FindKey(func(string) (string, bool) { return "", true }, "", t.TempDir())
	if key != nil || err != nil {
		t.Errorf("found %v, %v", key, err)
	}
}
