package daemon

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"epitome/internal/fakeapi"
)

// What a conversation, a client and a provider say, each once.
const (
	plantedKey    = "sk-planted-credential"
	plantedQuery  = "planted-query-key"
	plantedAnswer = "planted words of the model"
	plantedError  = "planted words of a refusal"
	plantedResult = "of table_1: value" // of fakeapi.Conversation
)

// talkative answers with words, or refuses with words, by the header that the client sends.
func talkative(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch r.Header.Get("x-play") {
	case "refuse":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, plantedError)
	case "break":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"error\":{\"message\":%q}}\n\n", plantedError)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`,
			plantedAnswer)
	}
}

// played is a data folder behind exchanges of every kind, and the log of the program, which has ended.
func played(t *testing.T) (folder, log string) {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(talkative))
	defer up.Close()
	folder = filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(folder, 0o755); err != nil { // as who names a folder of their own with --data has made it
		t.Fatal(err)
	}
	k := keep(t, folder, up.URL)
	for _, play := range []string{"answer", "refuse", "break", "answer"} {
		req, err := http.NewRequest(http.MethodPost, "http://"+k.Address()+"/v1/chat/completions?key="+plantedQuery,
			strings.NewReader(string(fakeapi.Conversation(2))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+plantedKey)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("x-play", play)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body) // one of them breaks off
		_ = resp.Body.Close()
	}
	k.end(t)
	return folder, k.log.text()
}

// TestEventsAndLogHoldNothingThatWasSaid: what is kept of exchanges beside decisions and artifacts is figures.
func TestEventsAndLogHoldNothingThatWasSaid(t *testing.T) {
	folder, log := played(t)
	said := []string{plantedKey, plantedQuery, plantedAnswer, plantedError, plantedResult, "table_1"}
	events := filepath.Join(folder, EventFolder)
	if kept := filesWith(t, events, `"status":400`); len(kept) == 0 {
		t.Error("the exchanges are not among the events")
	}
	if found := filesWith(t, events, said...); len(found) > 0 {
		t.Errorf("among the events: %v", found)
	}
	for _, text := range said {
		if strings.Contains(log, text) {
			t.Errorf("the log has %q", text)
		}
	}
	if !strings.Contains(log, `"status":400`) {
		t.Error("the exchanges are not in the log")
	}
}

// TestCredentialsStandNowhereOnTheDisk: nor does what a model answered, before a client sends it back.
func TestCredentialsStandNowhereOnTheDisk(t *testing.T) {
	folder, _ := played(t)
	if len(filesWith(t, folder, plantedResult)) == 0 {
		t.Error("what was taken out lies nowhere: the test sees nothing")
	}
	if found := filesWith(t, folder, plantedKey, plantedQuery, plantedAnswer, plantedError); len(found) > 0 {
		t.Error(found)
	}
}

// TestNeighboursReadNothingInTheDataFolder: whoever made the folder itself, with whatever rights, nobody else may look
// into what lies in it.
func TestNeighboursReadNothingInTheDataFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	folder, _ := played(t)
	seen := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		file, err := e.Info()
		if err != nil {
			return err
		}
		seen++
		if file.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, file.Mode())
		}
		if e.IsDir() && e.Name() == StoreFolder { // its files are Badger's, with modes of its own
			return fs.SkipDir
		}
		return nil
	})
	if err != nil || seen < 6 {
		t.Errorf("%d files and folders are there, %v", seen, err)
	}
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
