package team

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"epitome/bench/backend"
	"epitome/bench/lineup"
	"epitome/bench/wire"
)

// The shape of a conversation. Its results fill the window in some thirty turns, so that some are cleared and old turns
// are summarised.
const (
	window      = 24_000 // tokens
	resultLines = 30     // of some 70 bytes each
)

// request is what a client sends in a turn of conversation number. Each turn, counted from 1, begins with all of the
// one before.
func request(number, turn int) []byte {
	dice := rand.New(rand.NewPCG(1, uint64(number)))
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":"gpt-4.1-team","messages":[{"role":"system","content":"You keep the books of mill %d."},`+
		`{"role":"user","content":"Weigh the sacks of all barns, and never sell those of lot %d."}`, number, number)
	for i := 1; i < turn; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d_%d","type":"function",`+
			`"function":{"name":"read_file","arguments":"{\"path\":\"barn/%d/%d.txt\"}"}}]}`, number, i, number, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d_%d","content":"%s"}`, number, i, ledger(dice))
	}
	b.WriteString("]}")
	return b.Bytes()
}

// ledger is a result as it stands in JSON.
func ledger(dice *rand.Rand) string {
	var b strings.Builder
	for i := range resultLines {
		fmt.Fprintf(&b, `line %d: miller %d has lot_%06x of %d grams in barn %d\n`, i, dice.IntN(40), dice.IntN(1<<24),
			dice.IntN(9000), dice.IntN(90))
	}
	return b.String()
}

// client is a connection to an epitome.
type client struct {
	conn *wire.Client
	at   wire.Site
}

func dial(lane *lineup.Lane) (*client, error) {
	c, err := wire.Dial(lane.At.Addr, lineup.TurnLimit)
	if err != nil {
		return nil, fmt.Errorf("cannot reach an epitome: %w", err)
	}
	return &client{c, lane.At}, nil
}

func (c *client) close() { c.conn.Close() }

// ask sends a turn of a conversation.
func (c *client) ask(number, turn int) error { return c.send(c.prepare(number, turn)) }

// prepare writes a turn of a conversation, so that it can be sent at once.
func (c *client) prepare(number, turn int) []byte {
	body := request(number, turn)
	head := fmt.Appendf(nil, "POST %s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer bench\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", c.at.Prefix, backend.ChatPath, c.at.Addr, len(body))
	return append(head, body...)
}

func (c *client) send(prepared []byte) error {
	c.conn.Extend(lineup.TurnLimit)
	if err := c.conn.Exchange(prepared); err != nil {
		return fmt.Errorf("cannot ask an epitome: %w", err)
	}
	return nil
}

// metric reads one of an epitome's metrics that has no labels.
func metric(ctx context.Context, c *client, name string) (float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.at.Addr+"/-/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, fmt.Errorf("cannot read an epitome's metrics: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("cannot find %s among an epitome's metrics", name)
}
