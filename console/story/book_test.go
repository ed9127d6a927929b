package story

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"epitome/event"
)

// summed is the Summary of all that has happened.
func summed(t *testing.T, r rig, by string) Summary {
	t.Helper()
	s, err := r.Summary(Span{By: by})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// added is the sum of the rows, ratios left out.
func added(rows []Row) Sums {
	var all account
	for _, row := range rows {
		all.add(&account{Sums: row.Sums, Cache: Cache{Input: row.Sums.Usage.CacheInput}})
	}
	return all.sums()
}

// withoutRatios is s without what cannot be added up.
func withoutRatios(s Sums) Sums {
	s.Money.Drift = 0
	return s
}

// listener notes which events it hears.
type listener struct {
	exchanges []event.Exchange
	summaries []event.Summary
}

func (l *listener) RecordExchange(e event.Exchange)   { l.exchanges = append(l.exchanges, e) }
func (l *listener) RecordCompaction(event.Compaction) {}
func (l *listener) RecordWarning(event.Warning)       {}
func (l *listener) RecordSummary(e event.Summary)     { l.summaries = append(l.summaries, e) }

// counted adds up what was heard, as the fold does not.
func (l *listener) counted() (s Sums) {
	died := map[string]bool{}
	for _, e := range l.exchanges {
		s.Exchanges++
		s.Money.Billed += e.Bill.Billed
		if !e.Usage.Odd {
			s.Usage.Output += int64(e.Usage.Output) * int64(min(len(e.Usage.Source), 1))
		}
		if e.Mode != event.ModeOn || e.ShapeTime == 0 {
			continue
		}
		s.TokensBefore += int64(e.TokensBefore.Total())
		s.TokensAfter += int64(e.TokensAfter.Total())
		s.Money.Saved += e.Bill.Saved()
		if e.Bill.Beyond {
			s.Money.Beyond++
			if e.Conversation != "" && !died[e.Conversation] {
				died[e.Conversation] = true
				s.Money.Died++
			}
		}
	}
	for _, n := range l.summaries {
		s.Money.Own += n.Own.Nano
		s.Money.Saved -= n.Own.Nano
	}
	return s
}

// same compares what counted adds up.
func same(t *testing.T, what string, got, want Sums) {
	t.Helper()
	short := func(s Sums) []int64 {
		return []int64{
			s.Exchanges, s.TokensBefore, s.TokensAfter, s.Usage.Output, s.Money.Billed, s.Money.Own, s.Money.Saved,
			s.Money.Beyond, s.Money.Died,
		}
	}
	if g, w := short(got), short(want); !reflect.DeepEqual(g, w) {
		t.Errorf("%s comes to %v, want %v", what, g, w)
	}
}

func TestAllSumsAreTheSame(t *testing.T) {
	for seed := range uint64(5) {
		heard := &listener{}
		r := begin(t, func(_ *Config, p *Plugs) {
			p.Bill, p.Charge, p.Sinks = billed, charged, event.Sinks{heard}
		})
		cast(seed).record(r, 600)
		total := summed(t, r, ByDay)
		same(t, "the total", total.Total, heard.counted())
		for _, by := range []string{ByDay, ByHour, ByModel, ByUpstream, ByConversation} {
			s := summed(t, r, by)
			if !reflect.DeepEqual(s.Total, total.Total) {
				t.Errorf("by %s the total is %+v, by day %+v", by, s.Total, total.Total)
			}
			if got := added(s.Rows); !reflect.DeepEqual(got, withoutRatios(s.Total)) {
				t.Errorf("by %s the rows come to %+v, the total is %+v", by, got, s.Total)
			}
		}
		if total.Total.Money.Own == 0 || total.Total.Money.Died == 0 || len(total.Rows) < 2 {
			t.Errorf("the dice told too little: %+v", total.Total.Money)
		}
		r.past.expire(r.now.Load(), r.conf.Keep)
		r.now.Store(r.now.Load().Add(finely))
		r.past.expire(r.now.Load(), r.conf.Keep)
		if old := summed(t, r, ByDay); !reflect.DeepEqual(old.Rows, total.Rows) || len(r.past.hours) > 0 {
			t.Errorf("figures put together by the day are %+v, before %+v", old.Rows, total.Rows)
		}
	}
}

func TestOldEventsAreForgotten(t *testing.T) {
	r := begin(t, nil)
	for i := range mostEntries + 5 {
		r.RecordExchange(talking("c1", 0))
		if i%1000 == 0 {
			r.Settle()
		}
	}
	s, err := r.Conversation("c1")
	if err != nil || len(s.Exchanges) != mostEntries || s.Forgotten != 5 || s.Turns != mostEntries+5 ||
		s.Exchanges[0].Turn != 6 {
		t.Errorf("%v: %d exchanges, %d forgotten of %d", err, len(s.Exchanges), s.Forgotten, s.Turns)
	}
	if _, err := r.Exchange(5); err != ErrUnknown {
		t.Error("the fifth is still there")
	}
	if e, err := r.Exchange(6); err != nil || e.Seq != 6 {
		t.Errorf("the sixth is %d, %v", e.Seq, err)
	}
}

func TestModelsOfStrangersAreBounded(t *testing.T) {
	r := begin(t, nil)
	for i := range 3 * mostModels {
		e := talking("c1", 0)
		e.Model = time.Duration(i).String()
		r.RecordExchange(e)
	}
	s := summed(t, r, ByModel)
	if len(s.Rows) != mostModels+1 || s.Total.Exchanges != 3*mostModels {
		t.Errorf("got %d rows of %d exchanges", len(s.Rows), s.Total.Exchanges)
	}
}

// stuck is a sink that waits until it may go on.
type stuck struct {
	listener
	inside, goOn chan struct{}
}

func (s *stuck) RecordExchange(event.Exchange) {
	s.inside <- struct{}{}
	<-s.goOn
}

func TestWhatDoesNotFitIsDroppedAndCounted(t *testing.T) {
	slow := &stuck{inside: make(chan struct{}), goOn: make(chan struct{})}
	r := begin(t, func(_ *Config, p *Plugs) { p.Sinks = event.Sinks{slow} })
	r.RecordExchange(talking("c1", 0))
	<-slow.inside
	for range queue + 3 { // would wait for ever if it waited
		r.RecordWarning(event.Warning{})
	}
	close(slow.goOn)
	if s := summed(t, r, ByDay); r.CountDropped() != 3 || len(s.Notes) != 1 {
		t.Errorf("%d dropped, noted %q", r.CountDropped(), s.Notes)
	}
}

func TestWhatWasRecordedIsWrittenBeforeTheEnd(t *testing.T) {
	heard := &listener{}
	r := begin(t, func(_ *Config, p *Plugs) { p.Sinks = event.Sinks{heard} })
	for range 1000 {
		r.RecordExchange(talking("c1", 0))
	}
	r.Close()
	if len(heard.exchanges) != 1000 {
		t.Errorf("%d were heard", len(heard.exchanges))
	}
	r.RecordExchange(talking("c1", 0)) // costs nothing but itself
	r.Settle()
	r.Close()
}

// What comes without a client's key is heard of, and neither kept nor counted among what clients did: whoever reaches
// the port could push all else out.
func TestStrangersPushNothingOut(t *testing.T) {
	folder := t.TempDir()
	var heard counted
	r := begin(t, func(c *Config, p *Plugs) {
		c.Folder, p.Sinks = folder, event.Sinks{&heard}
		p.Follow = func(n Entry) {
			if n.Exchange.Status == 401 {
				t.Error("who follows what is kept hears of a stranger")
			}
		}
	})
	r.RecordExchange(talking("c1", 0))
	stranger := event.Exchange{Start: noon, Method: "POST", Path: "/v1/chat/completions", Mode: event.ModeOn,
		Action: "none", Status: 401, Fault: event.Refused, Err: "no key"}
	for range 200 {
		r.RecordExchange(stranger)
	}
	turnedAway := event.Exchange{Start: noon, Mode: event.ModeOn, Action: "none", Status: 503, Fault: event.Refused}
	r.RecordExchange(turnedAway)
	r.Settle()
	if n := heard.exchanges.Load(); n != 202 {
		t.Errorf("metrics and log hear of %d", n)
	}
	if got := r.past.seq; got != 1 {
		t.Errorf("%d events are kept", got)
	}
	r.Close()
	lines := 0
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		lines += strings.Count(string(text), "\n")
	}
	if lines != 1 || err != nil {
		t.Errorf("%d lines lie in %v, %v", lines, files, err)
	}
}

// counted counts what it hears.
type counted struct {
	event.Sink // of nothing else
	exchanges  atomic.Int64
}

func (c *counted) RecordExchange(event.Exchange) { c.exchanges.Add(1) }
