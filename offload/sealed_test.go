package offload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/store/memory"
	"epitome/store/seal"
)

// sealed returns the options with a seal of the folder's.
func sealed(t testing.TB, o Options) Options {
	t.Helper()
	o.Seal, o.Address = sealOf(t, o.Folder, strings.Repeat("5e", 32), true), "none"
	return o
}

func sealOf(t testing.TB, folder, key string, writes bool) *seal.Seal {
	t.Helper()
	k, err := seal.FindKey(func(string) (string, bool) { return key, true }, "", folder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := seal.Open(folder, k, writes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSealedShelfShowsNothing looks for a text, and for the name that a neighbour with the folder's secret would work
// out for a guess of it. Without a seal both are there.
func TestSealedShelfShowsNothing(t *testing.T) {
	const planted = "what the user said in confidence"
	f := func(isSealed bool) {
		t.Helper()
		folder, c := t.TempDir(), newClock()
		o := options(folder, c)
		if isSealed {
			o = sealed(t, o)
		}
		s := opened(t, o)
		put(t, s, planted)
		guess := s.kinds.name("tests", []byte(planted))
		files := listing(t, folder)
		if len(files) != 1 {
			t.Fatalf("there are %q", files)
		}
		content, err := os.ReadFile(filepath.Join(folder, "artifacts", files[0]))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), planted) == isSealed || strings.HasPrefix(files[0], guess) == isSealed {
			t.Errorf("sealed %v: %s holds %q, the guess is %s", isSealed, files[0], content, guess)
		}
	}
	f(false)
	f(true)
}

func TestPlainArtifactsStayReadable(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	o := options(folder, c)
	facts := o.Store
	old := opened(t, o)
	name, lost := put(t, old, "content"), put(t, old, "lost")
	if at := old.Address(name); at != fileOf(folder, name) {
		t.Fatal(at)
	}
	if err := os.Remove(fileOf(folder, lost)); err != nil {
		t.Fatal(err)
	}

	s := opened(t, sealed(t, o))
	has(t, s, name, "content")
	used(t, s, 7)
	if old.NameOf("scope", "one") != s.NameOf("scope", "one") {
		t.Error("scopes have other names once the folder is sealed")
	}
	if text, err := os.ReadFile(fileOf(folder, name)); string(text) != "content" || err != nil {
		t.Errorf("a recorded stub names a file that holds %q, %v", text, err)
	}
	fresh := put(t, s, "content")
	if fresh == name {
		t.Error("a sealed content has its old name")
	}
	if err := s.Put(lost, []byte("lost")); err != nil { // as a recorded form asks for it again
		t.Fatal(err)
	}
	has(t, s, lost, "lost")
	if _, err := os.Stat(fileOf(folder, lost)); err == nil {
		t.Error("it is written in plain text")
	}
	c.pass(month)
	if !s.Touch(name) || !s.Touch(fresh) || !s.Touch(lost) {
		t.Error("not all live on")
	}

	o.Seal, o.Store = sealOf(t, folder, strings.Repeat("5e", 32), false), facts // no seal any more
	s = opened(t, o)
	has(t, s, fresh, "content")
	has(t, s, name, "content")
	used(t, s, 18)
	c.pass(2 * month)
	if n, _, err := s.Sweep(t.Context()); n != 3 || err != nil {
		t.Errorf("swept %d, %v; want all three", n, err)
	}
	used(t, s, 0)
}

func TestSealedFilesHaveNoPath(t *testing.T) {
	for _, kind := range []string{"path", "both"} {
		o := sealed(t, options(t.TempDir(), newClock()))
		o.Address, o.URL = kind, "http://here/"
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "sealed") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	o := sealed(t, options(t.TempDir(), newClock()))
	o.Address, o.URL = "url", "http://here/"
	if at := opened(t, o).Address(strings.Repeat("a", nameLength)); at != "http://here/"+strings.Repeat("a", nameLength) {
		t.Errorf("it lies at %s", at)
	}
}

// BenchmarkSealed puts and gets 100 KB, plain and sealed by turns, and tells the median of each pair's ratio.
func BenchmarkSealed(b *testing.B) {
	content := []byte(strings.Repeat("0123456789abcdef", 100<<10/16))
	open := func(with func(testing.TB, Options) Options) *Shelf {
		o := options(b.TempDir(), newClock())
		o.Store, o.Quota = memory.New(64<<20, o.Now), 1<<40
		return opened(b, with(b, o))
	}
	plain, closed := open(func(_ testing.TB, o Options) Options { return o }), open(sealed)
	f := func(s *Shelf) time.Duration {
		begun := time.Now()
		name := s.Name("tests", content)
		if err := s.Put(name, content); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Get(name); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	var ratios []float64
	for n := 0; b.Loop(); n++ {
		copy(content, []byte{byte(n), byte(n >> 8), byte(n >> 16)})
		was := f(plain)
		ratios = append(ratios, float64(f(closed))/float64(was))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "sealed/plain")
}
