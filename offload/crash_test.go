package offload

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary is its own child, as a kill must not end the tests.
const (
	childEnv  = "EPITOME_OFFLOAD_CHILD"
	folderEnv = "EPITOME_OFFLOAD_FOLDER"
)

func TestMain(m *testing.M) {
	if round := os.Getenv(childEnv); round != "" {
		putUntilKilled(round)
		return
	}
	os.Exit(m.Run())
}

// content returns that of a key of the crash test: up to 200 KB, made from the key alone.
func content(key string) []byte {
	size := 0
	for _, c := range key {
		size = (size*31 + int(c)) % 200_000
	}
	return []byte(strings.Repeat(key+"#", 1+size/len(key)))
}

// putUntilKilled puts contents from several goroutines and prints each key once the content was put.
func putUntilKilled(round string) {
	roomy := options()
	roomy.Quota = 4 << 30 // a fast machine puts more than the usual one before it kills
	s, err := OpenFolder(os.Getenv(folderEnv), roomy)
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	fmt.Println("named " + s.Name("", nil))
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("round %s, writer %d, content %d", round, w, n)
				if err := s.Put(s.Name("scope", content(key)), content(key), true); err != nil {
					fmt.Println("failed", err)
					return
				}
				_, _ = os.Stdout.WriteString("put " + key + "\n") // in one write, so that lines do not mix
			}
		})
	}
	all.Wait()
}

// TestKilledWhilePutting kills writers at random moments. Afterwards all that they had acknowledged is there, no file
// under an artifact's name is half written, and all of them have made names with one secret.
func TestKilledWhilePutting(t *testing.T) {
	data := t.TempDir()
	var mu sync.Mutex
	var keys []string
	names := map[string]bool{}
	for round := range 4 {
		var both sync.WaitGroup
		for process := range 2 {
			both.Go(func() {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), childEnv+"="+fmt.Sprint(round, process), folderEnv+"="+data)
				out, err := cmd.StdoutPipe()
				if err != nil || cmd.Start() != nil {
					t.Error("cannot start the child", err)
					return
				}
				lines := bufio.NewReader(out)
				var kill *time.Timer
				for {
					line, err := lines.ReadString('\n')
					if err != nil { // the rest is half a line, which acknowledges nothing
						break
					}
					word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
					mu.Lock()
					switch word {
					case "named":
						names[rest] = true
					case "put":
						if keys = append(keys, rest); kill == nil {
							after := time.Duration(rand.IntN(60)) * time.Millisecond
							kill = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
						}
					default:
						t.Error(line)
					}
					mu.Unlock()
				}
				if _ = cmd.Wait(); kill != nil {
					kill.Stop()
				}
			})
		}
		both.Wait()
	}
	if len(names) != 1 {
		t.Fatalf("processes that share a folder have %d secrets", len(names))
	}
	o := options()
	o.Quota = 4 << 30
	s := inFolder(t, data, o)
	for _, key := range keys {
		has(t, s, s.Name("scope", content(key)), string(content(key)))
	}
	files, err := filepath.Glob(filepath.Join(s.folder.path, "*.txt"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if name := s.Name("scope", text); err != nil || name+".txt" != filepath.Base(file) {
			t.Errorf("%s has %d bytes that are named %s, %v", file, len(text), name, err)
		}
	}
	if err != nil || len(keys) == 0 {
		t.Fatal(len(keys), err)
	}
}
