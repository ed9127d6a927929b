package shorten

import (
	"strings"
	"testing"
)

func TestNamesAreNeverTorn(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := strings.Join(WholeNames(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("see http://localhost:8080/orders/42?x_y=1 now", "http://localhost:8080/orders/42?x_y")
	f("id 3f2a-91bc_77de-0011, again 3f2a-91bc_77de-0011.", "3f2a-91bc_77de-0011")
	f("src/a.go:12:5: undefined: batch_size", "src/a.go batch_size")
	f(`call("refund_id", order.ID)`, "refund_id order.ID")
	f("src/refund/batch.go and batch.go", "src/refund/batch.go batch.go")
	f("-run TestRefund --dry_run", "TestRefund dry_run")
	f("cat ~/.codex/hooks.json ./rewrite/recap ../lib/a.ts .github/workflows/ci.yml @scope/pkg .env.example",
		"~/.codex/hooks.json rewrite/recap ../lib/a.ts .github/workflows/ci.yml @scope/pkg .env.example")
	f("edit $HOME/bin/x app/$projectId.tsx $route.ts ${HOME}/bin/y **/.codex/z.json **/recap/names.go *.spec.tsx",
		"$HOME/bin/x app/$projectId.tsx $route.ts bin/y .codex/z.json recap/names.go")
	f("curl -d @/tmp/a.txt 2>/dev/null ...go_on .where_not(x).map_to @retry_on $a_bc",
		"/tmp/a.txt /dev/null go_on where_not map_to retry_on a_bc")
	f("cat ./.github/workflows/ci.yml ./.eslintrc.json ./../lib/a.ts .//src/a.ts ./@scope/pkg ././x/y.go",
		".github/workflows/ci.yml .eslintrc.json ../lib/a.ts src/a.ts @scope/pkg x/y.go")
	f("${HOME}/.config/x.toml $(dirname $0)/../lib/a.sh f(x).map_to.all_of", ".config/x.toml lib/a.sh map_to.all_of")
	f("all is well and so is everything else", "")
	f("größe_x", "")
	f("b_b_b b_b_b a_a_a", "b_b_b a_a_a")
	f("", "")
	f("\x00\x1b[31mred_one\x1b[0m", "31mred_one") // what is no terminal's screen is read as it stands
}

// In a shell's text \n is a line end, and what follows begins behind its letter.
func TestTheLetterOfAnEscapeBeginsNoName(t *testing.T) {
	var names []string
	EachName(`printf 'Round totals\nVerifiedTotals: 3\tread_all\n' >> notes/fees.md; ls src\Fees.cs`, func(name string) {
		names = append(names, name)
	})
	if got := strings.Join(names, " "); got != "notes/fees.md Fees.cs" {
		t.Errorf("got %q", got)
	}
}

func TestWholeNamesOfAnyTextAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("a_b", 1<<20), strings.Repeat("a_b ", 1<<20), strings.Repeat(":1", 1<<20)} {
		for _, name := range WholeNames(text) {
			if len(name) > longestWhole || !strings.Contains(text, name) {
				t.Errorf("a name of %d bytes", len(name))
			}
		}
	}
}
