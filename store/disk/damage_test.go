package disk

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/store"
	"epitome/store/storetest"
)

const damagedFacts = 3000

func damagedKey(i int) string { return fmt.Sprintf("fact %06d", i) }

// inspect opens the store as the program would and says what it holds; whatever is found must be what was written.
func inspect() {
	faults := 0
	d, err := Open(Options{Folder: os.Getenv(folderEnv), Free: plenty, Fault: func(error) { faults++ }})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	found, wrong := 0, 0
	see := func(key string, fact store.Fact) bool {
		found++
		if string(fact.Bytes) != expected(key) {
			wrong++
		}
		return true
	}
	for i := range damagedFacts {
		if fact, ok := d.Get(damagedKey(i)); ok {
			see(damagedKey(i), fact)
		}
	}
	got := found
	if err := d.Scan("", see); err != nil {
		fmt.Println("error", err)
	}
	if _, err := d.Put("new", []byte(expected("new")), storetest.Month); err != nil {
		fmt.Println("error", err)
	}
	if fact, ok := d.Get("new"); !ok || string(fact.Bytes) != expected("new") {
		wrong++
	}
	if err := d.Close(); err != nil {
		fmt.Println("error", err)
	}
	fmt.Printf("found=%d wrong=%d faults=%d moved=%v\n", got, wrong, faults, d.Notice() != "")
}

// filled returns a folder with damagedFacts facts in tables, and a second one as a killed process leaves it: in the
// log.
func filled(t *testing.T) (clean, killed string) {
	t.Helper()
	clean, killed = filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "store")
	d := mustOpen(t, Options{Folder: clean, Free: plenty})
	for i := range damagedFacts {
		storetest.Put(t, d, damagedKey(i), expected(damagedKey(i)))
	}
	copyFolder(t, clean, killed) // the mapped files hold what was acknowledged, as after a kill
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return clean, killed
}

// copyFolder leaves out zeros, as Badger's files are mostly holes.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	written(t, read(t, from), to)
}

// image is a file as it was read: what it begins with, and how many zeros lie behind.
type image struct {
	content []byte
	zeros   int64
}

// read reads all files of a folder.
func read(t *testing.T, folder string) map[string]image {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]image{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		end := bytes.TrimRight(content, "\x00")
		all[e.Name()] = image{bytes.Clone(end), int64(len(content) - len(end))}
	}
	return all
}

// written makes a folder of the files, with holes in place of the zeros.
func written(t *testing.T, files map[string]image, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		path := filepath.Join(folder, name)
		err := os.WriteFile(path, f.content, 0o600)
		if err == nil && f.zeros > 0 {
			err = os.Truncate(path, int64(len(f.content))+f.zeros)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// damage is one way to spoil a file.
type damage struct {
	name string
	do   func(content []byte) []byte // nil deletes the file
}

func truncated(name string, part func(size int) int) damage {
	return damage{"truncated to " + name, func(c []byte) []byte { return c[:part(len(c))] }}
}

func flipped(thousandths int) damage {
	return damage{fmt.Sprintf("flipped at %d/1000", thousandths), func(c []byte) []byte {
		c[(len(c)-1)*thousandths/1000] ^= 0x55
		return c
	}}
}

// damages returns what is tried on every kind of file.
func damages() []damage {
	all := []damage{
		{"deleted", func([]byte) []byte { return nil }},
		{"zeroed at the end", func(c []byte) []byte { clear(c[len(c)*9/10:]); return c }},
		truncated("nothing", func(int) int { return 0 }),
		truncated("a third", func(n int) int { return n / 3 }),
		truncated("all but ten bytes", func(n int) int { return n - 10 }),
	}
	for _, thousandths := range []int{0, 100, 333, 500, 777, 900, 990, 999, 1000} {
		all = append(all, flipped(thousandths))
	}
	return all
}

// TestDamageNeverShowsWrongValues spoils the files of a store in many ways, each opened by a process of its own: none
// dies, and what is found is right. Damage to tables and MANIFEST moves the store aside; of a log the tail may be gone.
func TestDamageNeverShowsWrongValues(t *testing.T) {
	t.Parallel()
	clean, killed := filled(t)
	f := func(source, pattern string) {
		files := read(t, source)
		names, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no %s in the store", pattern)
		}
		for i, d := range damages() {
			if i%6 != 0 {
				continue
			}
			name := filepath.Base(names[i%len(names)])
			folder := filepath.Join(t.TempDir(), "store")
			written(t, spoilt(files, name, d), folder)
			out, err := child("inspect", folder, 0).Output()
			report := strings.TrimSpace(string(out))
			t.Logf("%-12s %-28s %s", name, d.name, report)
			if err != nil || !strings.Contains(report, " wrong=0 ") || strings.Contains(report, "error") {
				t.Errorf("%s %s: %v, %q", name, d.name, err, report)
			}
		}
	}
	f(clean, "*.sst")
	f(clean, "MANIFEST")
	f(clean, "KEYREGISTRY")
	f(clean, "*.vlog")
	f(killed, "*.mem")
	f(killed, "*.vlog")
}

// spoilt is the files with one of them damaged.
func spoilt(files map[string]image, name string, d damage) map[string]image {
	all := maps.Clone(files)
	f := all[name]
	least := min(10-int64(len(f.content)), f.zeros) // the rest of a log is a hole
	content := append(bytes.Clone(f.content), make([]byte, max(least, 0))...)
	if content = d.do(content); content == nil {
		delete(all, name)
	} else {
		all[name] = image{content: content}
	}
	return all
}
