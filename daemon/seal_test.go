package daemon

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/store/seal"
	"epitome/unit"
)

// sealedIn opens what is kept in the folder, sealed with the key.
func sealedIn(t testing.TB, folder, key string) *shapers {
	t.Helper()
	t.Setenv(seal.KeyEnv, key)
	conf := config.Defaults(configtest.Text())
	conf.Offload.Seal, conf.Offload.Address = true, "url"
	s, err := openStorage(conf, folder, "127.0.0.1:7070", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return newShapers(conf, s)
}

// filesWith are the files in the folder that hold one of the texts.
func filesWith(t testing.TB, folder string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				found = append(found, filepath.Base(path)+" has "+text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSealedFolderShowsNothingOfAConversation lets all rungs record what they have, and looks for the user's words, for
// results, and for hashes by which a guess of them could be tried out.
func TestSealedFolderShowsNothingOfAConversation(t *testing.T) {
	f := func(sealed bool) {
		t.Helper()
		folder := t.TempDir()
		kept := keptIn(t, folder, io.Discard)
		if sealed {
			kept.close()
			folder = t.TempDir()
			kept = sealedIn(t, folder, seal.FreshKey())
		}
		var name string
		for calls := 1; calls <= 12; calls++ {
			in := askedFor(calls)
			limits := *in.Limits
			limits.Floor = unit.Bytes(1)
			in.Limits = &limits
			out := kept.live.Shape(in)
			if out.Report.Err != nil {
				t.Fatal(out.Report.Err)
			}
			name = out.Report.Conversation
		}
		if name == "" {
			t.Fatal("the conversation has no name")
		}
		texts := []string{"of table_1: value", "read table", "table_1"}
		if found := filesWith(t, folder, texts...); (len(found) == 0) != sealed {
			t.Errorf("sealed %v, while it runs: %v", sealed, found)
		}
		kept.close()
		if found := filesWith(t, folder, texts...); (len(found) == 0) != sealed {
			t.Errorf("sealed %v, afterwards: %v", sealed, found)
		}
	}
	f(false)
	f(true)
}

// TestSealedNamesCannotBeTriedOut: who knows what a conversation says cannot work out its name without the key.
func TestSealedNamesCannotBeTriedOut(t *testing.T) {
	name := func(k *shapers) string {
		defer k.close()
		return k.live.Shape(askedFor(1)).Report.Conversation
	}
	plain, again := name(keptIn(t, t.TempDir(), io.Discard)), name(keptIn(t, t.TempDir(), io.Discard))
	if plain != again || plain == "" {
		t.Fatalf("without a seal it is named %q and %q", plain, again)
	}
	folder, key := t.TempDir(), seal.FreshKey()
	first := name(sealedIn(t, folder, key))
	if first == plain || first != name(sealedIn(t, folder, key)) || first == name(sealedIn(t, t.TempDir(), key)) {
		t.Errorf("sealed, it is named %q; plain, %q", first, plain)
	}
}

func TestSealedFolderRefusesAnotherKey(t *testing.T) {
	folder := t.TempDir()
	sealedIn(t, folder, seal.FreshKey()).close()
	f := func(key string, seals bool, want string) {
		t.Helper()
		t.Setenv(seal.KeyEnv, key)
		conf := config.Defaults(configtest.Text())
		if conf.Offload.Seal = seals; seals {
			conf.Offload.Address = "none"
		}
		s, err := openStorage(conf, folder, "127.0.0.1:7070", slog.New(slog.DiscardHandler))
		if err == nil {
			s.close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the key %q it says %v; want %q", key, err, want)
		}
	}
	f("", true, "no key is given")
	f("", false, "no key is given")
	f(seal.FreshKey(), true, "not the one")
	f(seal.FreshKey(), false, "not the one")
}

// BenchmarkSealedExchange shapes a request that brings a result of 60 KB, plain and sealed by turns: an artifact, a
// form and a decision each time. It tells the median of each pair's ratio.
func BenchmarkSealedExchange(b *testing.B) {
	storage, err := openStorage(config.Defaults(configtest.Text()), b.TempDir(), "127.0.0.1:7070",
		slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	plain := newShapers(config.Defaults(configtest.Text()), storage)
	defer plain.close()
	closed := sealedIn(b, b.TempDir(), seal.FreshKey())
	defer closed.close()
	f := func(k *shapers, scope string) time.Duration {
		in := askedFor(1)
		in.Scope = scope
		begun := time.Now()
		out := k.live.Shape(in)
		if out.Report.Err != nil || !out.Report.Decided {
			b.Fatalf("%+v", out.Report)
		}
		return time.Since(begun)
	}
	var ratios []float64
	for n := 0; b.Loop(); n++ {
		was := f(plain, fmt.Sprint("scope ", n))
		ratios = append(ratios, float64(f(closed, fmt.Sprint("scope ", n)))/float64(was))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "sealed/plain")
}
