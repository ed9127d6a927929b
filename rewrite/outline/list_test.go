package outline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"epitome/rewrite/rewritetest"
)

// TestOddItemStandsWhole has lists as tools print them, each with one item that differs.
func TestOddItemStandsWhole(t *testing.T) {
	count := rewritetest.Scale(t, "gpt-4o").Counter.CountString
	const items, at = 150, 87
	f := func(name, frame, between string, item func(i int, dice *rand.Rand) string, odd string) {
		t.Helper()
		dice := rand.New(rand.NewPCG(1, 2))
		list := make([]string, items)
		for i := range list {
			list[i] = item(i, dice)
		}
		list[at] = odd
		got, ok := Of(fmt.Sprintf(frame, strings.Join(list, between)), Hint{}, 2_000, count)
		if n := count(got.Text); !ok || n > 2_000 {
			t.Fatalf("%s: %v, %d tokens", name, ok, n)
		}
		odd = odd[strings.IndexByte(odd, '{'):]
		if !strings.Contains(strings.ReplaceAll(got.Text, " ", ""), strings.ReplaceAll(odd, " ", "")) {
			t.Errorf("%s: the odd item is not whole in\n%s", name, got.Text)
		}
		if testing.Verbose() {
			t.Logf("%s, %d tokens:\n%s", name, count(got.Text), got.Text)
		}
	}
	payment := func(i int, dice *rand.Rand) string {
		return fmt.Sprintf(`{"id": "pay_%06x", "amount": %d.%02d, "currency": "EUR", "status": "settled", "customer": "cus_%08x", "created": "2026-03-%02dT%02d:00:00Z"}`,
			i*7919, dice.IntN(400)+10, dice.IntN(100), dice.Uint32(), i%28+1, i%24)
	}
	f("a value", "[%s]", ",", payment, `{"id": "pay_0a8bd5", "amount": 52.10, "currency": "EUR", "status": "stuck", "customer": "cus_01234567", "created": "2026-03-04T05:00:00Z"}`)
	f("a key more", `{"object": "list", "data": [%s], "has_more": false}`, ",", payment,
		`{"id": "pay_0a8bd5", "amount": 52.10, "currency": "EUR", "status": "settled", "customer": "cus_01234567", "created": "2026-03-04T05:00:00Z", "dispute": "dp_1"}`)
	f("a key less", "[%s]", ",\n", payment, `{"id": "pay_0a8bd5", "amount": 52.10, "currency": "EUR", "status": "settled", "created": "2026-03-04T05:00:00Z"}`)
	f("null", `{"a": {"b": {"payments": [%s]}}}`, ",", payment,
		`{"id": "pay_0a8bd5", "amount": 52.10, "currency": "EUR", "status": "settled", "customer": null, "created": "2026-03-04T05:00:00Z"}`)
	f("a type", "%s", "\n", payment,
		`{"id": "pay_0a8bd5", "amount": "52.10", "currency": "EUR", "status": "settled", "customer": "cus_01234567", "created": "2026-03-04T05:00:00Z"}`)
	f("a negative number", "[%s]", ",", payment,
		`{"id": "pay_0a8bd5", "amount": -52.10, "currency": "EUR", "status": "settled", "customer": "cus_01234567", "created": "2026-03-04T05:00:00Z"}`)
	f("a number far away", "[%s]", ",", payment,
		`{"id": "pay_0a8bd5", "amount": 521000.00, "currency": "EUR", "status": "settled", "customer": "cus_01234567", "created": "2026-03-04T05:00:00Z"}`)
	job := func(i int, dice *rand.Rand) string {
		return fmt.Sprintf(`{"job": %d, "host": "worker-%d", "state": "%s", "error": null, "seconds": %d}`, i+1, dice.IntN(90),
			[]string{"done", "done", "queued", "skipped"}[dice.IntN(4)], dice.IntN(500)+100)
	}
	f("an error", `{"jobs": [%s], "page": 1}`, ", ", job, `{"job": 88, "host": "worker-3", "state": "done", "error": "connection reset by peer", "seconds": 240}`)
	pod := func(i int, dice *rand.Rand) string {
		return fmt.Sprintf(`{"metadata": {"name": "api-%08x", "namespace": "shop", "labels": {"app": "api", "tier": "web"}}, "status": {"phase": "Running", "containers": [{"ready": true, "restarts": 0}, {"ready": true, "restarts": 0}]}}`, dice.Uint32())
	}
	f("deep in it", `{"apiVersion": "v1", "kind": "List", "items": [%s]}`, ",", pod,
		`{"metadata": {"name": "api-deadbeef", "namespace": "shop", "labels": {"app": "api", "tier": "web"}}, "status": {"phase": "Running", "containers": [{"ready": true, "restarts": 0}, {"ready": false, "restarts": 17}]}}`)
	user := func(i int, _ *rand.Rand) string {
		return fmt.Sprintf(`"user_%d": {"email": "u%d@example.com", "active": true, "role": "member", "tags": ["a", "b"]}`, i, i)
	}
	f("in an object", "{%s}", ",\n", user, `"user_87": {"email": "u87@example.com", "active": true, "role": "owner", "tags": ["a", "b"]}`)
	f("a list that is not empty", "[%s]", ",", func(i int, dice *rand.Rand) string {
		return fmt.Sprintf(`{"file": "src/part_%d.go", "lines": %d, "issues": []}`, i, dice.IntN(300)+100)
	}, `{"file": "src/part_87.go", "lines": 155, "issues": ["unused variable x"]}`)
	f("another form", "[%s]", ",", func(i int, dice *rand.Rand) string {
		return fmt.Sprintf(`{"invoice": "INV-2026-%05d", "total": %d, "due": "2026-%02d-%02d"}`, i, dice.IntN(300)+100, i%12+1, i%28+1)
	}, `{"invoice": "draft (no number yet)", "total": 155, "due": "2026-08-08"}`)
}

// Nobody reads what is left out: the room is used, and no more than it.
func TestAListThatNobodyReadsIsShownAsFarAsItFits(t *testing.T) {
	count := rewritetest.Scale(t, "gpt-4o").Counter.CountString
	f := func(frame, between string, keep, items int) {
		t.Helper()
		var list []string
		for i := range items {
			list = append(list, fmt.Sprintf(`{"id": "bk_%d", "guests": %d, "state": "held"}`, 4000+i, i%5))
		}
		text := fmt.Sprintf(frame, strings.Join(list, between))
		shown := func(h Hint) (n, tokens int) {
			o, ok := Of(text, h, keep, count)
			if tokens = count(o.Text); !ok || tokens > keep {
				t.Errorf("%v, %d tokens of %d", ok, tokens, keep)
			}
			for n < items && strings.Contains(o.Text, list[n]) {
				n++
			}
			return n, tokens
		}
		few, _ := shown(Hint{})
		many, tokens := shown(Hint{Unread: true})
		if few != firstItems || many <= few || many < items && tokens+2*count(list[0]) < keep {
			t.Errorf("%d items of %d are shown in %d of %d tokens, and %d to who may read", many, items, tokens, keep, few)
		}
	}
	f("[%s]", ",", 1_000, 500)
	f(`{"object": "list", "data": [%s], "has_more": false}`, ",\n", 600, 90)
	f("%s", "\n", 1_500, 300)
}
