package charge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"paygate/gateway"
	"paygate/journal"
)

// hiddenAfter is after how long a lookup finds a charge that was booked.
const hiddenAfter = 44 * time.Second

// hiddenGateway is a gateway whose answers to charges are planned, and the clock.
type hiddenGateway struct {
	now     time.Time
	answers []string
	broken  bool // lookups fail
	posts   []time.Time
	finds   []time.Time
	booked  []time.Time
	keys    []string
}

func (p *hiddenGateway) Now() time.Time { return p.now }

func (p *hiddenGateway) Sleep(_ context.Context, d time.Duration) error {
	p.now = p.now.Add(d)
	return nil
}

func (p *hiddenGateway) Post(_ context.Context, c gateway.Charge) (gateway.Receipt, error) {
	answer := "booked"
	if len(p.posts) < len(p.answers) {
		answer = p.answers[len(p.posts)]
	}
	p.posts = append(p.posts, p.now)
	if c.Key != "" {
		p.keys = append(p.keys, c.Key)
	}
	switch answer {
	case "refused":
		return gateway.Receipt{}, gateway.ErrRefused
	case "busy":
		return gateway.Receipt{}, gateway.Busy{After: 7 * time.Second}
	case "lost":
		return gateway.Receipt{}, fmt.Errorf("%w: status 503", gateway.ErrUnclear)
	case "taken":
		p.booked = append(p.booked, p.now)
		return gateway.Receipt{}, fmt.Errorf("%w: status 504", gateway.ErrUnclear)
	}
	p.booked = append(p.booked, p.now)
	return gateway.Receipt{ID: "ch_1", Ref: c.Ref, Cents: c.Cents}, nil
}

func (p *hiddenGateway) Find(_ context.Context, ref string) (gateway.Receipt, bool, error) {
	p.finds = append(p.finds, p.now)
	if p.broken {
		return gateway.Receipt{}, false, errors.New("status 500")
	}
	for _, at := range p.booked {
		if p.now.Sub(at) >= hiddenAfter {
			return gateway.Receipt{ID: "ch_1", Ref: ref}, true, nil
		}
	}
	return gateway.Receipt{}, false, nil
}

func TestHidden(t *testing.T) {
	for _, test := range []struct {
		answers string
		broken  bool
		posts   int
		booked  int
		want    error
		line    string
	}{
		{"booked", false, 1, 1, nil, "booked ch_1"},
		{"refused", false, 1, 0, gateway.ErrRefused, "refused -"},
		{"taken", false, 1, 1, nil, "booked ch_1"},
		{"lost booked", false, 2, 1, nil, "booked ch_1"},
		{"lost taken", false, 2, 1, nil, "booked ch_1"},
		{"lost refused", false, 2, 0, gateway.ErrRefused, "refused -"},
		{"lost lost taken", false, 3, 1, nil, "booked ch_1"},
		{"lost lost lost", false, 3, 0, ErrOpen, "open -"},
		{"taken", true, 1, 1, ErrOpen, "open -"},
		{"lost", true, 1, 0, ErrOpen, "open -"},
		{"busy booked", false, 2, 1, nil, "booked ch_1"},
		{"busy busy busy", false, 3, 0, ErrOpen, "open -"},
		{"busy taken", false, 2, 1, nil, "booked ch_1"},
	} {
		p := &hiddenGateway{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), answers: strings.Fields(test.answers), broken: test.broken}
		var text bytes.Buffer
		receipt, err := Service{Gateway: p, Clock: p, Journal: journal.New(&text)}.Run(context.Background(), Order{"A", 100})
		name := fmt.Sprintf("%s, lookups broken: %v", test.answers, test.broken)
		if !errors.Is(err, test.want) || err == nil && receipt.ID != "ch_1" {
			t.Errorf("%s: %+v, %v, want %v", name, receipt, err, test.want)
		}
		if len(p.posts) != test.posts || len(p.booked) != test.booked {
			t.Errorf("%s: %d posts, %d booked, want %d and %d", name, len(p.posts), len(p.booked), test.posts, test.booked)
		}
		if len(p.keys) != 0 {
			t.Errorf("%s: keys were sent: %q", name, p.keys)
		}
		if got := strings.TrimSpace(text.String()); !strings.HasSuffix(got, " A "+test.line) {
			t.Errorf("%s: journal %q, want %q", name, got, test.line)
		}
		for n := 1; n < len(p.posts); n++ {
			least := 45 * time.Second
			if p.answers[n-1] == "busy" {
				least = 7 * time.Second
			}
			if waited := p.posts[n].Sub(p.posts[n-1]); waited < least {
				t.Errorf("%s: post %d came after %v, want %v", name, n+1, waited, least)
			}
		}
		if strings.HasPrefix(test.answers, "busy b") && len(p.finds) != 0 {
			t.Errorf("%s: %d lookups for a charge of which the gateway took no notice", name, len(p.finds))
		}
	}
}
