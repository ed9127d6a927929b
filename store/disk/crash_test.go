package disk

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

	"epitome/internal/fakeapi/scriptedtest"
	"epitome/store/storetest"
)

// The test binary is its own child: what kills a process must not kill the tests.
const (
	childEnv  = "EPITOME_STORE_CHILD" // what the child is to do
	folderEnv = "EPITOME_STORE_FOLDER"
	roundEnv  = "EPITOME_STORE_ROUND"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "write":
		writeUntilKilled()
	case "inspect":
		inspect()
	default:
		scriptedtest.CollectLess()
		scriptedtest.DrawFewer("10")
		os.Exit(m.Run())
	}
}

func child(what, folder string, round int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	// The race detector would let each child sleep for a second at its end.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "GOGC=400", childEnv+"="+what, folderEnv+"="+folder,
		roundEnv+"="+strconv.Itoa(round))
	cmd.Stderr = os.Stderr
	return cmd
}

// expected returns the value under a key of the crash tests: from a few bytes to 4 KB, made from the key alone.
func expected(key string) string {
	size := 0
	for _, c := range key {
		size = (size*31 + int(c)) % 4096
	}
	return strings.Repeat(key+"#", 1+size/len(key))
}

// writeUntilKilled puts facts from several goroutines and says each key once the store has acknowledged it. Each
// goroutine also counts in one key of its own, which it replaces and touches all the time.
func writeUntilKilled() {
	d, err := Open(Options{Folder: os.Getenv(folderEnv), Free: plenty, SyncEvery: 3 * time.Millisecond})
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	if d.Notice() != "" {
		fmt.Println("failed", d.Notice())
		return
	}
	fmt.Println("ready")
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("round %s, writer %d, fact %d", os.Getenv(roundEnv), w, n)
				if _, err := d.Put(key, []byte(expected(key)), storetest.Month); err != nil {
					fmt.Println("failed", err)
					return
				}
				_, _ = os.Stdout.WriteString("put " + key + "\n") // one write: lines of goroutines do not mix
				count := fmt.Sprintf("count of round %s, writer %d", os.Getenv(roundEnv), w)
				if _, err := d.Put(count, fmt.Append(nil, n), storetest.Month); err != nil {
					fmt.Println("failed", err)
					return
				}
				_, _ = os.Stdout.WriteString("count " + strconv.Itoa(n) + " " + count + "\n")
			}
		})
	}
	all.Wait()
}

// TestKilledWhileWriting kills writers at random moments. What they had acknowledged is there afterwards.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	const rounds = 10
	folder := filepath.Join(t.TempDir(), "store")
	acknowledged, counts := map[string]bool{}, map[string]int{}
	for round := range rounds {
		killedRound(t, folder, round, func(line string) {
			if key, found := strings.CutPrefix(line, "put "); found {
				acknowledged[key] = true
				return
			}
			number, key, _ := strings.Cut(strings.TrimPrefix(line, "count "), " ")
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatalf("round %d: the child said %q", round, line)
			}
			counts[key] = n
		})
		if round%10 == 9 {
			checkAcknowledged(t, folder, acknowledged, counts)
		}
	}
	t.Logf("%d acknowledged writes in %d rounds", len(acknowledged), rounds)
}

func killedRound(t *testing.T, folder string, round int, heard func(line string)) {
	t.Helper()
	cmd := child("write", folder, round)
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
	kill := time.AfterFunc(time.Duration(rand.IntN(30_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what is left is half a line, which acknowledges nothing
		}
		heard(strings.TrimSuffix(line, "\n"))
	}
	_ = cmd.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func checkAcknowledged(t *testing.T, folder string, acknowledged map[string]bool, counts map[string]int) {
	t.Helper()
	d := mustOpen(t, Options{Folder: folder, Free: plenty, Fault: func(err error) { t.Error(err) }})
	for key := range acknowledged {
		if fact, found := d.Get(key); !found || string(fact.Bytes) != expected(key) {
			t.Errorf("acknowledged and lost: %q: %v, %q", key, found, fact.Bytes)
		}
	}
	for key, n := range counts {
		fact, found := d.Get(key)
		if got, err := strconv.Atoi(string(fact.Bytes)); !found || err != nil || got != n && got != n+1 {
			t.Errorf("%q is %q, %v; acknowledged was %d", key, fact.Bytes, found, n)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
}
