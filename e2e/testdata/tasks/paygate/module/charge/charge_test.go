package charge

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"paygate/clock"
	"paygate/gateway"
	"paygate/journal"
)

type once struct {
	receipt gateway.Receipt
	err     error
}

func (o once) Post(context.Context, gateway.Charge) (gateway.Receipt, error) {
	return o.receipt, o.err
}

func (o once) Find(context.Context, string) (gateway.Receipt, bool, error) {
	return gateway.Receipt{}, false, nil
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		answer once
		want   error
		line   string
	}{
		{once{receipt: gateway.Receipt{ID: "ch_1"}}, nil, " A booked ch_1\n"},
		{once{err: gateway.ErrRefused}, gateway.ErrRefused, " A refused -\n"},
	} {
		var text bytes.Buffer
		service := Service{Gateway: test.answer, Clock: clock.Real{}, Journal: journal.New(&text)}
		_, err := service.Run(context.Background(), Order{Ref: "A", Cents: 100})
		if !errors.Is(err, test.want) || !strings.HasSuffix(text.String(), test.line) {
			t.Errorf("%v, journal %q, want %v and %q", err, text.String(), test.want, test.line)
		}
	}
}
