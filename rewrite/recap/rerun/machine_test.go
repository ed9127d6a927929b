package rerun

import (
	"strings"
	"testing"
)

func TestWhereACallRunsIsToldByItsWords(t *testing.T) {
	f := func(call, where, inner string) {
		t.Helper()
		on, rest := Machine(strings.Fields(call))
		if got := strings.ReplaceAll(on, "\x00", " "); got != where || strings.Join(rest, " ") != inner {
			t.Errorf("%q runs %q on %q, want %q on %q", call, rest, got, inner, where)
		}
	}
	f("pytest -q", "", "pytest -q")
	f("sudo -E make test", "", "sudo -E make test")
	f("docker compose run --rm -e A=1 app pytest -q", "docker compose run -e A=1 app", "pytest -q")
	f("DB=1 docker compose -f a.yml exec -T app pytest", "DB=1 docker compose -f a.yml exec app", "pytest")
	f("sudo docker run --rm -v .:/app -w /app shop go test ./...", "docker run -v .:/app -w /app shop", "go test ./...")
	f("kubectl -n shop exec -it refund-1 -c app -- pytest", "kubectl -n shop exec refund-1", "-c app -- pytest")
	f("ssh -p 22 ci make", "ssh -p 22 ci", "make")
	f("docker build .", "docker build .", "")
	f("docker logs shop --tail 3", "docker logs shop --tail 3", "")
	f("gh run view 12 --log", "gh run view 12 --log", "")
	f("docker", "docker", "")
	f("", "", "")
}

func TestARunElsewhereCoversNoneHere(t *testing.T) {
	f := func(want bool, now, before string) {
		t.Helper()
		if got := Covers(strings.Fields(now), strings.Fields(before)); got != want {
			t.Errorf("%q covers %q: %v", now, before, got)
		}
	}
	f(true, "docker compose run app go test ./...", "docker compose run --rm app go test ./a")
	f(false, "docker compose run app go test ./...", "go test ./a")
	f(false, "go test ./...", "docker compose run app go test ./a")
	f(false, "ssh a pytest", "ssh b pytest")
	f(false, "A=1 ssh a pytest", "ssh a pytest")
	f(true, "ssh a pytest -v", "ssh a pytest")
}
