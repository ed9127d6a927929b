package load

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestMain lets this test binary be the bare proxy, and stand for epitome by being another one.
func TestMain(m *testing.M) {
	args := map[string]string{}
	for i := 1; i+1 < len(os.Args); i++ {
		args[os.Args[i]] = os.Args[i+1]
	}
	if upstream := args["--upstream"]; upstream != "" {
		panic(Baseline(args["--listen"], upstream))
	}
	os.Exit(m.Run())
}

// Whether a figure is right cannot be tested on a busy machine, but that it is there.
func TestRunMeasuresEveryContender(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	o := Options{Program: os.Args[0], Against: []string{os.Args[0]}, Quick: true, Progress: io.Discard}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"latency, 2 KB", "added latency, 100 KB", "latency, 800 KB rewritten, first",
		"throughput, 100 KB over 2 connections"}
	if runtime.GOOS == "linux" {
		names = append(names, "idle memory", "memory after load")
	}
	for _, name := range names {
		for _, contender := range []string{subject, bare, "1: load.test"} {
			if f := r.find(name); f == nil || len(f.samples[contender]) == 0 {
				t.Errorf("%s of %s was not measured", name, contender)
			}
		}
	}
	if text := r.find("latency, 2 KB").Text(bare); !strings.HasSuffix(text, "×)") {
		t.Errorf("printed: %s", text)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
