package story

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"epitome/event"
)

// shares are the rows by client: billed and own nano-dollars.
func shares(t *testing.T, r rig) map[string][2]int64 {
	t.Helper()
	s := summed(t, r, ByClient)
	if all := summed(t, r, ByDay); withoutRatios(added(s.Rows)).Money != withoutRatios(all.Total).Money ||
		added(s.Rows).Exchanges != all.Total.Exchanges {
		t.Errorf("clients add up to %+v, days to %+v", added(s.Rows).Money, all.Total.Money)
	}
	rows := map[string][2]int64{}
	for _, row := range s.Rows {
		rows[row.Key] = [2]int64{row.Sums.Money.Billed, row.Sums.Money.Own}
	}
	return rows
}

// of is an exchange of a client that cost so much.
func of(client, talk string, minutes int, nano int64) event.Exchange {
	e := talking(talk, minutes)
	e.Client, e.Bill = client, event.Bill{Measured: true, Billed: nano, Price: "m"}
	return e
}

// What a team pays is told by client, to the unit, after a restart too, with what summaries cost of whose conversations
// they are.
func TestClientsAreToldApart(t *testing.T) {
	folder := t.TempDir()
	in := func(c *Config, p *Plugs) {
		c.Folder = folder
		p.Bill = func(*event.Exchange, time.Duration) {}
		p.Charge = func(*event.Summary) event.Charge { return event.Charge{Price: "m", Nano: 7} }
	}
	r := begin(t, in)
	r.RecordExchange(of("alice", "a", 0, 100))
	r.RecordExchange(of("bob", "b", 1, 20))
	r.RecordExchange(of("alice", "a", 2, 3))
	r.RecordExchange(of("", "n", 3, 1000))
	r.RecordSummary(event.Summary{Kind: event.SummaryCompleted, Time: noon, Conversation: "b", Upstream: "openai",
		Model: "m", Cost: event.Cost{Requests: 1}})
	want := map[string][2]int64{"alice": {103, 0}, "bob": {20, 7}, "": {1000, 0}}
	if got := shares(t, r); !maps.Equal(got, want) {
		t.Errorf("clients have %v, want %v", got, want)
	}
	if c, err := r.Conversation("a"); err != nil || c.Client != "alice" {
		t.Errorf("the conversation is of %q, %v", c.Client, err)
	}
	r.Close()
	again := begin(t, in)
	if got := shares(t, again); !maps.Equal(got, want) {
		t.Errorf("after a restart clients have %v, want %v", got, want)
	}
	again.Close()

	// as an earlier version wrote it
	file := filepath.Join(folder, "fold.json")
	text, err := os.ReadFile(file)
	var fold map[string]any
	if err != nil || json.Unmarshal(text, &fold) != nil || fold["shares"] == nil {
		t.Fatalf("the snapshot is %.200s, %v", text, err)
	}
	delete(fold, "shares")
	if text, err = json.Marshal(fold); err != nil || os.WriteFile(file, text, 0o600) != nil {
		t.Fatal(err)
	}
	old := begin(t, in)
	if got, want := shares(t, old), map[string][2]int64{"": {1123, 7}}; !maps.Equal(got, want) {
		t.Errorf("of an earlier version clients have %v, want %v", got, want)
	}
}
