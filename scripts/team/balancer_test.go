package team_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/internal/need"
)

// answering is a server on the address until the test ends it.
func answering(t *testing.T, address string) (end func()) {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok")
	})}
	s.SetKeepAlivesEnabled(false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	end = func() {
		_ = s.Shutdown(context.Background())
		<-done
	}
	return end
}

// balanced is where nginx listens, with the configuration of the team, before two servers.
func balanced(t *testing.T, port int) (url string) {
	t.Helper()
	folder := t.TempDir()
	conf := strings.NewReplacer(
		"epitome-1:7070", fmt.Sprintf("127.0.0.1:%d", port+1), "epitome-2:7070", fmt.Sprintf("127.0.0.1:%d", port+2),
		"listen 8080", fmt.Sprintf("listen 127.0.0.1:%d", port), "/tmp/nginx", filepath.Join(folder, "nginx"),
		"worker_processes auto", "worker_processes 1", // which know of each other's failures only by chance
	).Replace(string(contents(t, "nginx.conf")))
	file := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "nginx", "-c", file, "-e", "stderr", "-g", "daemon off;")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	return fmt.Sprintf("http://127.0.0.1:%d/", port)
}

// While one epitome after the other is started anew, the balancer finds the one that is there.
func TestBalancerOutlivesARollingRestart(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil {
		need.Skip(t, "there is no nginx")
	}
	port := sixFreePorts(t)
	one, two := fmt.Sprintf("127.0.0.1:%d", port+1), fmt.Sprintf("127.0.0.1:%d", port+2)
	endOne, endTwo := answering(t, one), answering(t, two)
	url := balanced(t, port)
	ask := func() (status int) {
		resp, err := http.Get(url)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for deadline := time.Now().Add(time.Minute); ask() != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nginx does not answer")
		}
	}
	failed := 0
	again := func(end func(), address string) (endLater func()) {
		end()
		for range 6 {
			if ask() != http.StatusOK {
				failed++
			}
		}
		endLater = answering(t, address)
		for range 6 {
			if ask() != http.StatusOK {
				failed++
			}
		}
		return endLater
	}
	endOne = again(endOne, one)
	endTwo = again(endTwo, two)
	endOne = again(endOne, one)
	if failed > 0 {
		t.Errorf("%d of 36 requests failed while there was always one to serve them", failed)
	}
	endOne()
	endTwo()
}
