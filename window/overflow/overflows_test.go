package overflow

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/internal/need"
)

// overflow is an answer that was collected from a public thread, and what it meant.
type overflow struct {
	ID        int    `json:"id"`
	Provider  string `json:"provider"`
	Status    int    `json:"status"`
	Body      string `json:"body"`
	Is        bool   `json:"is_overflow"`
	Kind      string `json:"kind"`
	Window    int    `json:"window_in_message"`
	Requested int    `json:"requested_tokens"`
}

// collected reads the answers from the file, or from overflow-errors.jsonl in the folder, that EPITOME_OVERFLOWS
// names. They are no part of the repository.
func collected(t *testing.T) (rows []overflow) {
	t.Helper()
	path := os.Getenv("EPITOME_OVERFLOWS")
	if path == "" {
		need.Skip(t, "no collected errors: EPITOME_OVERFLOWS names no file with a JSON object on each line")
	}
	if at, err := os.Stat(path); err == nil && at.IsDir() {
		path = filepath.Join(path, "overflow-errors.jsonl")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row overflow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", path)
	}
	return rows
}

// read tells whether the row is recognised by its text, or a silent one by its usage. What was sent is much for any
// window.
func (o overflow) read() (v Verdict, found bool) {
	const window = 2_000_000
	v = Read(Answer{Status: o.Status, Body: []byte(o.Body)}, Sent{Tokens: window * 9 / 10, Window: window})
	used := int(gjson.Get(o.Body, "usage.prompt_tokens").Int())
	_, cut := Truncated(used, window*9/10, window)
	return v, v.Kind != NotOurs || o.Kind == "silent" && cut
}

func TestCollectedErrorsAreRead(t *testing.T) {
	all, found := map[string]int{}, map[string]int{}
	overflows, missed, windows := 0, 0, 0
	for _, o := range collected(t) {
		v, ok := o.read()
		all[o.Kind]++
		switch {
		case ok && !o.Is:
			t.Errorf("%d (%s) is no overflow, and read as %v: %s\n\t%d %s", o.ID, o.Provider, v.Kind, v.Why, o.Status, o.Body)
		case !ok && o.Is:
			missed++
			t.Logf("%d (%s, %s) is not recognised: %s\n\t%d %s", o.ID, o.Provider, o.Kind, v.Why, o.Status, o.Body)
		}
		if !o.Is {
			continue
		}
		overflows++
		if ok {
			found[o.Kind]++
		}
		if v.Window != 0 && v.Window != o.Window {
			t.Errorf("%d (%s) states the window %d, and not %d\n\t%s", o.ID, o.Provider, o.Window, v.Window, o.Body)
		}
		if v.Window == o.Window && v.Window > 0 {
			windows++
		}
		if v.Requested != o.Requested {
			t.Logf("%d (%s) counts %d tokens, read as %d\n\t%s", o.ID, o.Provider, o.Requested, v.Requested, o.Body)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%s: %d of %d", kind, found[kind], all[kind])
	}
	t.Logf("windows read: %d; overflows missed: %d of %d", windows, missed, overflows)
	if missed*100 > overflows*3 {
		t.Errorf("%d of %d overflows are not recognised, at most 3 in 100", missed, overflows)
	}
}
