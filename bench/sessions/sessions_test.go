package sessions

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
)

var update = flag.Bool("update", false, "write the golden files")

// checkValid returns an error if a provider would refuse a request, or if its model has already answered it.
func checkValid(body []byte) error {
	r, err := conversation.Read(chat.Dialect{}, body, nil)
	if err != nil {
		return err
	}
	if flaws := r.Check().Flaws; len(flaws) > 0 {
		return fmt.Errorf("flaws %v", flaws)
	}
	if r.Items[len(r.Items)-1].Role == conversation.Assistant {
		return errors.New("the last message is an answer")
	}
	return nil
}

// The golden files have a line for each message.
func TestLogsBecomeRequests(t *testing.T) {
	t.Chdir("testdata")
	for _, log := range []string{"claude", "codex", "pi", "requests"} {
		var got strings.Builder
		bodies, wrong := Read(log)
		for i, body := range bodies {
			if err := checkValid(body); err != nil && log != "requests" {
				t.Errorf("%s, %d: %v", log, i+1, err)
			}
			fmt.Fprintf(&got, "%s, %d, model %s\n", log, i+1, gjson.GetBytes(body, "model"))
			for _, m := range gjson.GetBytes(body, "messages").Array() {
				got.WriteString(m.Raw + "\n")
			}
			got.WriteString("\n")
		}
		if wrong != nil {
			got.WriteString(wrong.Error())
		}
		got.WriteString("\n")
		golden := log + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || string(want) != got.String() {
			t.Errorf("%s: %v, got\n%s", log, err, got.String())
		}
	}
}

func TestDamagedLogs(t *testing.T) {
	good := `{"type":"user","message":{"role":"user","content":"a"},"uuid":"1"}` + "\n" +
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"b"}]},"uuid":"2"}` + "\n" +
		`{"type":"user","message":{"role":"user","content":"c"},"uuid":"3"}` + "\n"
	none := "cannot replay log: it has no conversation in a known format"
	for _, c := range []struct {
		log           string
		conversations int
		wrong         string
	}{
		{good, 1, ""},
		{strings.ReplaceAll(good, "\n", "\r\n\r\n"), 1, ""},
		{"{\n\"messages\": [\n{\"role\":\"user\",\"content\":\"a\"}\n]\n}\n", 1, ""},
		{good + good[:40], 1, "cannot read all of log: line 4 is not JSON"},
		{strings.Repeat("x\n", 5) + good, 1, "line 1 is not JSON"},
		{good[:strings.Index(good, "\n")], 0, none},
		{"", 0, none},
		{`{"a":1}`, 0, none},
		{`{"system":"s","messages":[{"role":"user","content":"a"}]}`, 0, none},
		{`{"messages":[{"role":"user"},1]}`, 0, "request 1: cannot read item 1"},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("log", []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		conversations, err := Read("log")
		if n := len(conversations); n != c.conversations || (err == nil) != (c.wrong == "") ||
			err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%.80q: %d conversations, %v", c.log, n, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	logs, err := filepath.Glob("testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range logs {
		log, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		bodies, _ := Parse(log)
		for _, body := range bodies {
			if err := checkValid(body); err != nil && !bytes.Contains(log, body) { // requests stay as they are
				t.Error(err)
			}
		}
	})
}
