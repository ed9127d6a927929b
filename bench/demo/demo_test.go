package demo

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// The script demo of the program tests all else. Here the agent reaches the model through a server that changes bodies.
func TestWrongAnswerIsReported(t *testing.T) {
	m, err := StartModel(1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body = regexp.MustCompile(`CHG-\d{5}`).ReplaceAll(body, []byte("CHG-00000"))
		resp, err := http.Post(m.URL+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	defer wrong.Close()
	var out strings.Builder
	r, err := Run(t.Context(), Options{Model: m, Turns: 30, URL: wrong.URL, Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	if r.Right != r.Asked-1 {
		t.Errorf("%d answers of %d are right", r.Right, r.Asked)
	}
	if !strings.Contains(out.String(), "WRONG: CHG-00000") {
		t.Errorf("the turns do not say so:\n%s", out.String())
	}
}
