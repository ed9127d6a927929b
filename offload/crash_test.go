package offload

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/store/disk"
	"epitome/store/memory"
)

// The test binary is its own child: what kills a process must not kill the tests.
const (
	childEnv  = "EPITOME_OFFLOAD_CHILD" // what the child is to do
	folderEnv = "EPITOME_OFFLOAD_FOLDER"
	roundEnv  = "EPITOME_OFFLOAD_ROUND"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "put":
		putUntilKilled()
	case "name":
		sayName()
	default:
		os.Exit(m.Run())
	}
}

func child(what, folder string, round int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	// The race detector would let each child sleep for a second at its end.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0",
		childEnv+"="+what, folderEnv+"="+folder, roundEnv+"="+strconv.Itoa(round))
	cmd.Stderr = os.Stderr
	return cmd
}

func sayName() {
	s, err := Open(Options{Folder: os.Getenv(folderEnv), Store: memory.New(1<<20, time.Now),
		Keep: month, Address: "path"})
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	fmt.Println(s.Name("scope", []byte("content")))
}

// onDisk opens the shelf of the crash tests, over a store on disk.
func onDisk(folder string, now func() time.Time) (*Shelf, *disk.Store, error) {
	d, err := disk.Open(disk.Options{
		Folder: filepath.Join(folder, "store"), Now: now,
		Free: func(string) (uint64, error) { return 1 << 40, nil },
	})
	if err != nil {
		return nil, nil, err
	}
	s, err := Open(Options{Folder: folder, Store: d, Quota: 1 << 30, Keep: month, Address: "path", Now: now})
	return s, d, err
}

// expected returns the content of a key of the crash tests: from a few bytes to 200 KB, made from the key alone.
func expected(key string) []byte {
	size := 0
	for _, c := range key {
		size = (size*31 + int(c)) % 200_000
	}
	return []byte(strings.Repeat(key+"#", 1+size/len(key)))
}

// putUntilKilled puts contents from several goroutines and says each key once the shelf has acknowledged it.
func putUntilKilled() {
	s, _, err := onDisk(os.Getenv(folderEnv), time.Now)
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	fmt.Println("ready")
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("round %s, writer %d, content %d", os.Getenv(roundEnv), w, n)
				if err := s.Put(s.Name("scope", expected(key)), expected(key)); err != nil {
					fmt.Println("failed", err)
					return
				}
				_, _ = os.Stdout.WriteString("put " + key + "\n") // one write: lines of goroutines do not mix
			}
		})
	}
	all.Wait()
}

// TestKilledWhilePutting kills writers at random moments. What they had acknowledged is there afterwards, no file under
// an artifact's name is half written, and a later Sweep leaves nothing else.
func TestKilledWhilePutting(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	folder := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range rounds {
		killedRound(t, folder, round, func(key string) { acknowledged[key] = true })
	}
	temps := 0
	for _, file := range listing(t, folder) {
		if strings.HasSuffix(file, ".tmp") {
			temps++
		}
	}
	s, d, err := onDisk(folder, func() time.Time { return time.Now().Add(2 * tempAge) })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for key := range acknowledged {
		if got, err := s.Get(s.Name("scope", expected(key))); err != nil || string(got) != string(expected(key)) {
			t.Errorf("acknowledged and lost: %q: %d bytes, %v", key, len(got), err)
		}
	}
	if n, _, err := s.Sweep(t.Context()); n != temps || err != nil {
		t.Errorf("swept %d, %v; want the %d temps", n, err, temps)
	}
	total := int64(0)
	for _, file := range listing(t, folder) {
		content, err := os.ReadFile(filepath.Join(folder, "artifacts", file))
		if name := s.Name("scope", content); err != nil || name+".txt" != file {
			t.Errorf("%s has %d bytes that are named %s, %v", file, len(content), name, err)
		}
		total += int64(len(content))
	}
	used(t, s, total)
	t.Logf("%d acknowledged in %d rounds, %d temps left", len(acknowledged), rounds, temps)
}

func killedRound(t *testing.T, folder string, round int, put func(key string)) {
	t.Helper()
	cmd := child("put", folder, round)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Errorf("round %d: the child said %q, %v", round, line, err)
	}
	kill := time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what is left is half a line, which acknowledges nothing
		}
		key, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "put ")
		if !found {
			t.Errorf("round %d: the child said %q", round, line)
		}
		put(key)
	}
	_ = cmd.Wait()
	if t.Failed() {
		t.FailNow()
	}
}
