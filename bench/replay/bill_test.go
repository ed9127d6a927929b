package replay

import (
	"math"
	"strings"
	"testing"
	"time"

	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/rewrite/chat"
)

func TestPriceOfARequest(t *testing.T) {
	f := func(by policy.Tariff, tokens, held int, want float64) {
		t.Helper()
		if got := by.Price(policy.Input{Tokens: tokens, Held: held}); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v, %d tokens of which %d are held: %g, want %g", by, tokens, held, got, want)
		}
	}
	f(policy.PlainTariff(), 100, 0, 100)
	f(policy.PlainTariff(), 100, 80, 28)
	f(policy.PlainTariff(), 100, 100, 10)
	f(policy.PlainTariff(), 50, 80, 5) // a request that has shrunk

	f(policy.BillTariff(1), 2000, 1023, 2000) // too short a beginning
	f(policy.BillTariff(1), 2000, 1024, 102.4+976)
	f(policy.BillTariff(1), 2000, 1151, 102.4+976) // whole steps alone
	f(policy.BillTariff(1), 2000, 1152, 115.2+848)
	f(policy.BillTariff(1), 1100, 5000, 102.4+76)
	f(policy.BillTariff(1.25), 2000, 0, 2500)
	f(policy.BillTariff(1.25), 2000, 1300, 128+720*1.25)
}

// long returns a text of one letter that makes a message of so many tokens.
func long(letter string, tokens int) string {
	return strings.Repeat(letter, int(math.Ceil(policy.CharsPerToken*float64(tokens-policy.MessageTokens-1))))
}

// bigtalk returns a conversation with three requests, of 2001, 2501 and 4001 tokens.
func bigtalk() string {
	return benchtest.Chat(benchtest.Says("user", long("a", 2000)), benchtest.Says("assistant", long("b", 200)),
		benchtest.Says("user", long("c", 300)),
		benchtest.Says("assistant", long("d", 500)), benchtest.Says("user", long("e", 1000)))
}

// A request of bigtalk comes when its last message does: the second one three minutes after the first, the third one at
// the given time.
func TestBillKnowsPausesAndStepsAndCostDoesNot(t *testing.T) {
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	minutes := func(all ...float64) []time.Time {
		times := make([]time.Time, len(all))
		for i, m := range all {
			if m >= 0 {
				times[i] = start.Add(time.Duration(m * float64(time.Minute)))
			}
		}
		return times
	}
	cost := 2001 + (200.1 + 500) + (250.1 + 1500)
	shaped := cost      // expected, of what was sent
	var late, timed int // likewise, requests
	f := func(write, raw, sent float64, s policy.Shaper, times []time.Time) {
		t.Helper()
		c, err := newRecording(chat.Dialect{}, []byte(bigtalk()), policy.Unit{})
		if err != nil {
			t.Fatal(err)
		}
		c.times = times
		p := newPlayer(c, "it", 10_000, policy.Shaping{Shaper: s})
		p.bill = policy.BillTariff(write)
		for b := range c.bounds {
			if err = p.turn(b, prefixOf(t, c, c.bounds[b])); err != nil {
				t.Fatal(err)
			}
		}
		got := p.tally
		if math.Abs(got.bill.raw-raw) > 1e-9 || math.Abs(got.bill.sent-sent) > 1e-9 || got.unrecorded > 0 ||
			got.expired != late || got.timed != timed {
			t.Errorf("write %g, times %v: %+v, want %g for everything and %g", write, times, got.bill, raw, sent)
			t.Errorf("%d requests of %d came late, want %d of %d", got.expired, got.timed, late, timed)
		}
		if math.Abs(got.cost.raw-cost) > 1e-9 || math.Abs(got.cost.sent-shaped) > 1e-9 {
			t.Errorf("the cost is %+v, want %g and %g whatever is billed", got.cost, cost, shaped)
		}
	}
	// Of 2001 tokens 15 steps are cached, which is 1920, of 2501 19, which is 2432.
	const second, third = 192 + 581, 243.2 + 1569
	const warm, cold = 2001 + second + third, 2001 + second + 4001
	f(1, warm, warm, benchtest.Unchanged{}, nil)
	f(1, warm, warm, benchtest.Unchanged{}, minutes(-1, -1, -1, -1, -1))
	timed = 1
	f(1, warm, warm, benchtest.Unchanged{}, minutes(0, -1, 3, -1, -1))
	timed = 2
	f(1, warm, warm, benchtest.Unchanged{}, minutes(0, 1, 3, 4, 8))   // five minutes to the second
	f(1, warm, warm, benchtest.Unchanged{}, minutes(20, 10, 3, 2, 1)) // a clock that goes back
	late = 1
	f(1, cold, cold, benchtest.Unchanged{}, minutes(0, 1, 3, 4, 8.01))
	f(1, cold, cold, benchtest.Unchanged{}, minutes(0, 1, 3, 8.5,
		4)) // the answer came after what follows it in the list
	f(1.25, (2001+4001)*1.25+192+581*1.25, (2001+4001)*1.25+192+581*1.25, benchtest.Unchanged{},
		minutes(0, 1, 3, 4, 60))
	late, timed = 0, 0
	f(1, warm, warm, benchtest.Unchanged{}, minutes(0, 60)) // of other messages
	f(1.25, 1.25*(2001+581+1569)+192+243.2, 1.25*(2001+581+1569)+192+243.2, benchtest.Unchanged{}, nil)

	// The third request changes the third message, behind 2201 tokens: 17 steps, which is 2176, unless the pause was
	// long.
	change := func() policy.Shaper { return benchtest.Replacing(long("e", 1000), long("c", 300), long("C", 300)) }
	shaped = 2001 + (200.1 + 500) + (220.1 + 1800)
	f(1, warm, 2001+second+217.6+1825, change(), nil)
	late, timed = 1, 2
	f(1, cold, 2001+second+4001, change(), minutes(0, 1, 3, 4, 60))
}

func TestOwnRequestsAreBilledToo(t *testing.T) {
	asking := benchtest.ShaperFunc(func(body []byte) (policy.Shaped, error) {
		return policy.Shaped{Body: body, Asked: []policy.Asking{{Held: 1500, New: 100, Output: 20},
			{Held: 10, New: 5}}}, nil
	})
	row, _ := replayOne(t, bigtalk(), 10_000, policy.Shaping{Shaper: asking})
	// For each of three requests; 1500 tokens are 11 steps, which is 1408, and 10 are too few.
	const cost, own = (150 + 100 + 100) + (1 + 5), (140.8 + 192 + 100) + 15
	const raw, everything = 2001 + 700.1 + 1750.1, 2001 + (192 + 581) + (243.2 + 1569)
	near(t, "cost", row.Cost, (raw+3*cost)/raw)
	near(t, "billed", row.Billed, (everything+3*own)/everything)
	near(t, "own", &row.OwnBilled, 3*own)
	near(t, "raw", &row.RawBilled, everything)
	near(t, "sent", &row.SentBilled, everything)
	near(t, "saving", &row.Saving, -3*own)
	if row.OwnRequests != 6 || row.RawTokens != 2001+2501+4001 || row.Tokens != row.RawTokens || row.Expired != 0 ||
		row.Dearer != 1 {
		t.Errorf("%+v", row)
	}
}

func TestRequestsOfAShapersOwnAreMeasured(t *testing.T) {
	f := func(before, request string, want policy.Asking) {
		t.Helper()
		got, err := policy.NewAsking(policy.Unit{}, policy.Exchange{Dialect: chat.Dialect{}, Before: []byte(before),
			Request: []byte(request), Answer: strings.Repeat("x", 36)})
		if want.Output = 11; err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	said, more := []string{benchtest.Says("user", benchtest.Twenty), benchtest.Says("assistant", benchtest.Twenty)},
		benchtest.Says("user", benchtest.Third)
	before := benchtest.Chat(append(said, more)...)
	f(before, benchtest.Chat(append(said, benchtest.Says("user", benchtest.Twenty))...),
		policy.Asking{Held: 21, New: 10}) // 1 beside the messages
	f(before, benchtest.Chat(said...), policy.Asking{Held: 21})
	f(before, benchtest.Chat(benchtest.Says("user", benchtest.Third), said[1], more), policy.Asking{New: 31})
	f("", before, policy.Asking{New: 31})
	tools := strings.Replace(before, `"seed"`, `"tools": [{}], "seed"`, 1)
	f(before, tools, policy.Asking{New: 32}) // 2 beside the messages
	f(tools, tools, policy.Asking{Held: 32})
	broken := policy.Exchange{Dialect: chat.Dialect{}, Request: []byte("{")}
	if _, err := policy.NewAsking(policy.Unit{}, broken); err == nil {
		t.Error("what is no request was measured")
	}
}

func TestBillStandsInTheReport(t *testing.T) {
	report, text := replayed(t, Options{Paths: []string{folderOf(t, map[string]string{"a.json": bigtalk()})},
		Windows: []int{10_000}})
	if report.Timed != 0 || strings.Contains(text, "whose times are known") {
		t.Errorf("%d requests have times: %s", report.Timed, text)
	}
	cells := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	_, bill, _ := strings.Cut(text, "Bill, in M tokens at the price of one that is not cached")
	if lines := strings.Split(bill, "\n"); len(lines) < 3 ||
		cells(lines[2]) != "10000 send everything 0.0 0.0 0.00 0.00 0 0.00 0.00 0.0" {
		t.Errorf("%q", bill)
	}
	report, text = replayed(t, Options{Sessions: 1, Seed: 1, Windows: []int{64_000}})
	if report.Timed == 0 || !strings.Contains(text, "requests whose times are known came after more than 5 minutes") {
		t.Errorf("%d requests have times: %s", report.Timed, text)
	}
}
