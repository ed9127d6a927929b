package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/eventtest"
)

// texts are those that JSON writes in its own way, and others.
var texts = []string{
	"", "a", "grok-4-fast", `q"uo\te`, "<b>&amp;", "line\nend\ttab\r\b\f", "\x00\x1f\x7f", "bad \xff\xc3(", "é – 日本 😀",
	"\u2028\u2029", "a fairly long text that says why nothing new was done to a request, with numbers: 12 345",
}

var fractions = []float64{0, 1, 1.05, .333333333333, 1e-6, 9e-7, -2.5, 1e20, 1e21, 5e300, math.SmallestNonzeroFloat64}

var times = []time.Time{
	{}, time.Unix(1_800_000_000, 0), time.Unix(1_800_000_000, 123_456_789).UTC(),
	time.Date(2026, 2, 3, 4, 5, 6, 700, time.FixedZone("", -3*3600-1800)), time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC),
}

// fill gives every field below v a value by chance; some are zero, one in a hundred of all if few is false.
func fill(d *rand.Rand, v reflect.Value, few bool) {
	if few && v.Kind() != reflect.Struct && d.IntN(3) > 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(times[d.IntN(len(times))]))
			return
		}
		for i := range v.NumField() {
			fill(d, v.Field(i), few)
		}
	case reflect.String:
		v.SetString(texts[d.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(d.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(fractions[d.IntN(len(fractions))])
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(d.Int64() >> d.IntN(64) * int64(1-2*d.IntN(2)))
	case reflect.Uint16, reflect.Uint64:
		v.SetUint(uint64(d.Int64() >> d.IntN(64)))
	default:
		panic("a kind of field that no test makes: " + v.Type().String())
	}
}

// generated calls f with exchanges by chance, and with one for each field that alone is set.
func generated(f func(e event.Exchange)) {
	d := rand.New(rand.NewPCG(1, 2))
	f(event.Exchange{})
	f(eventtest.Conversation())
	for i := range 1500 {
		var e event.Exchange
		fill(d, reflect.ValueOf(&e).Elem(), i%2 == 0)
		f(e)
	}
}

func TestAppendJSONWritesWhatEncodingJSONWrites(t *testing.T) {
	generated(func(e event.Exchange) {
		t.Helper()
		want, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendJSON([]byte("before"), &e)
		if err != nil || string(got) != "before"+string(want) {
			t.Fatalf("got %v\n%s, want\n%s", err, got, want)
		}
	})
}

func TestWhatCannotBeJSONIsAnError(t *testing.T) {
	f := func(e event.Exchange) {
		t.Helper()
		_, err := AppendJSON(nil, &e)
		if _, fails := json.Marshal(&e); err == nil || fails == nil {
			t.Errorf("errors %v, %v", err, fails)
		}
	}
	f(event.Exchange{Start: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)})
	f(event.Exchange{Shaping: event.Shaping{Ratio: math.NaN()}})
	f(event.Exchange{Shaping: event.Shaping{Ratio: math.Inf(1)}})
}

func TestUnpackReturnsWhatWasPacked(t *testing.T) {
	var p Packer
	generated(func(e event.Exchange) {
		t.Helper()
		packed := p.Pack([]byte("before"), &e)[len("before"):]
		got := event.Exchange{ID: "of another one", Usage: event.Usage{Odd: true}}
		p.Unpack(packed, &got)
		if id := string(ConversationOf(packed)); id != e.Conversation {
			t.Fatalf("the conversation is %q, want %q", id, e.Conversation)
		}
		e.TraceParent = "" // nowhere written
		if _, here := got.Start.Zone(); !got.Start.Equal(e.Start) || here != offset(e.Start) {
			t.Fatalf("the time is %v, want %v", got.Start, e.Start)
		}
		got.Start = e.Start
		if got != e {
			t.Fatalf("got\n%+v, want\n%+v", got, e)
		}
	})
}

func offset(at time.Time) int {
	_, seconds := at.Zone()
	return seconds
}

func TestNamesThatAreTooManyStandWhereTheyAreSaid(t *testing.T) {
	var p Packer
	var packed [][]byte
	nameOf := func(i int) string { return fmt.Sprintf("model-%d", i%(2*mostNames)) }
	for i := range 5 * mostNames {
		e := event.Exchange{Upstream: "u", Shaping: event.Shaping{Model: nameOf(i)}}
		packed = append(packed, p.Pack(nil, &e))
	}
	for i, b := range packed {
		var e event.Exchange
		if p.Unpack(b, &e); e.Model != nameOf(i) || e.Upstream != "u" {
			t.Fatalf("the %d-th is of %q and %q, want %q", i, e.Upstream, e.Model, nameOf(i))
		}
	}
	if len(p.names) > mostNames {
		t.Errorf("there are %d names, want at most %d", len(p.names), mostNames)
	}
}

func sample() event.Exchange {
	e := eventtest.Conversation()
	e.Usage = event.Usage{Source: event.UsageProvider, Input: 3000, Read: 2800, Output: 10}
	e.Bill = event.Bill{Price: "openai/gpt-4.1", Raw: 1, Sent: 2, Billed: 3, Ruled: true, Measured: true}
	e.Leading, e.Decision = "8d2f7a0011223344", "0123456789abcdef0123456789abcdef"
	return e
}

func BenchmarkAppendJSON(b *testing.B) {
	e := sample()
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line, _ = AppendJSON(line[:0], &e)
	}
}

func BenchmarkPack(b *testing.B) {
	e := sample()
	var p Packer
	var packed []byte
	b.ReportAllocs()
	for b.Loop() {
		packed = p.Pack(packed[:0], &e)
	}
	b.ReportMetric(float64(len(packed)), "bytes")
}

func BenchmarkUnpack(b *testing.B) {
	e := sample()
	var p Packer
	packed := p.Pack(nil, &e)
	b.ReportAllocs()
	for b.Loop() {
		p.Unpack(packed, &e)
	}
}
