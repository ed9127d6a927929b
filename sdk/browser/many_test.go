package browser_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"epitome/sdk/sdktest"
)

// many is how many exchanges a page must be able to tell of.
const many = 10_000

// testSpeed has a browser draw the pages of a program that much has gone through.
func (r rig) testSpeed(t *testing.T) {
	few := r.stage(t)
	newAgent(few.base).play(t, 10)
	data := filepath.Join(t.TempDir(), "data")
	multiply(t, few.data, data)
	base := sdktest.Serve(t, r.program, "--data", data, "--upstream", few.model.URL)
	awaitMany(t, base)
	r.play(t, "speed.mjs", facts{"base": base, "data": data})
}

// multiply writes a log of many exchanges, which are those in the folder from over and over, into the folder to.
func multiply(t *testing.T, from, to string) {
	t.Helper()
	name, kept := logOf(t, from, 10)
	if err := os.MkdirAll(filepath.Join(to, "events"), 0o700); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	out := json.NewEncoder(&all)
	begin := time.Now().Add(-time.Hour)
	for i := range many {
		e := kept[i%len(kept)]
		e["seq"], e["id"] = i+1, fmt.Sprintf("many-%d", i)
		e["conversation"] = fmt.Sprintf("%016x", i/100)
		e["turn"] = i%100 + 1
		e["start"] = begin.Add(time.Duration(i) * 300 * time.Millisecond)
		if err := out.Encode(object{"exchange": e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(to, "events", name), all.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// logOf waits for n exchanges in the log in a data folder, and returns them and the log's name.
func logOf(t *testing.T, data string, n int) (name string, exchanges []object) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(data, "events", "*.jsonl")) // the pattern is sound
		if len(files) == 0 {
			continue
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		exchanges = nil
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			var line struct{ Exchange object }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Exchange != nil {
				exchanges = append(exchanges, line.Exchange)
			}
		}
		if len(exchanges) >= n {
			return filepath.Base(files[0]), exchanges
		}
	}
	t.Fatalf("the log has %d exchanges after a minute, want %d", len(exchanges), n)
	return "", nil
}

// awaitMany waits until the program has read what happened.
func awaitMany(t *testing.T, base string) {
	t.Helper()
	var told struct{ Total struct{ Exchanges int } }
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(base + "/-/api/summary")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(resp.Body).Decode(&told)
		_ = resp.Body.Close()
		if err == nil && told.Total.Exchanges == many {
			return
		}
	}
	t.Fatalf("the program knows %d exchanges after a minute, want %d", told.Total.Exchanges, many)
}
