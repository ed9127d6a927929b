package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"epitome/dialect/conversation"
	"epitome/offload"
	"epitome/summarize"
)

// rivals are the methods that are not epitome's.
var rivals = map[string]policy{"everything": baselines[0], "truncate": baselines[1], "clear": baselines[2],
	"newest": baseline("newest", func(k *kept) { k.drop(0, k.window*95/100) })}

// Methods are the names of all methods that need no model.
var Methods = []string{"everything", "newest", "truncate", "clear", "window", "lossless", "low", "intent", "high"}

// method returns the policy that a method names: one of the rivals, an epitome with that mode or detail of summaries,
// or of NAME=COMMAND a program.
func (o *Options) method(ctx context.Context, method string) (policy, error) {
	name, command, isProgram := strings.Cut(method, "=")
	words := strings.Fields(command)
	conf := o.Config
	rival, isRival := rivals[method]
	switch {
	case isProgram && name != "" && len(words) > 0:
		return policy{name, o.program(ctx, words)}, nil
	case isRival:
		return policy{name, rival.open}, nil
	case slices.Contains(summarize.Modes, method):
		conf.Summarize.Mode = summarize.Mode(method)
	case slices.Contains(summarize.Details, method):
		conf.Summarize.Detail = summarize.Detail(method)
	default:
		return policy{}, fmt.Errorf("cannot use --method %.40q: write NAME=COMMAND, all, or one of %s", method,
			strings.Join(slices.Concat(Methods[:4], summarize.Modes, summarize.Details[:3]), ", "))
	}
	address := offload.Options{Address: "url", URL: conf.ArtifactsAt(conf.Listen)}
	return policy{name, ownPolicy(conf, address).open}, nil
}

// program returns a policy that runs a program for each request, which it gets on standard input. It fails where the
// program does, hangs, or writes anything but a request with no more tokens that keeps the rules of the API.
func (o *Options) program(ctx context.Context, command []string) func(s *session, window int) shaper {
	return func(s *session, window int) shaper {
		return func(original *request) (shaped, error) {
			body, err := o.run(ctx, command, window, original.Body)
			if err != nil {
				return shaped{}, err
			}
			r, err := s.read(body, &request{}, map[string]*message{})
			if err != nil {
				return shaped{}, fmt.Errorf("it writes no request: %w", err)
			}
			if r.tokens > original.tokens {
				return shaped{}, fmt.Errorf("it makes %d tokens of %d", r.tokens, original.tokens)
			}
			return shaped{body: body}, conversation.Worse(original.Request, r.Request)
		}
	}
}

func (o *Options) run(ctx context.Context, command []string, window int, input []byte) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, o.Wait)
	defer stop()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env = append(os.Environ(), fmt.Sprintf("EPITOME_WINDOW=%d", window))
	c.Stdin = bytes.NewReader(input)
	out, problem := bounded{most: 2*len(input) + 1<<20}, bounded{most: 1 << 20}
	c.Stdout, c.Stderr = &out, &problem
	c.WaitDelay = time.Second // for processes that it has started itself
	err := c.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("it takes more than %v", o.Wait)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %.200q", err, problem.String())
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// bounded is a buffer that refuses more bytes than it may have: a program may write without end.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errors.New("it writes more than it gets")
	}
	return b.Buffer.Write(p)
}
