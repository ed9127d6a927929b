package load

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// Names of contenders in the report.
const (
	direct  = "direct" // a call without a proxy
	subject = "epitome"
	bare    = "bare fasthttp"
)

// contender takes requests: a proxy, or the upstream itself.
type contender struct {
	name    string
	command []string    // of a proxy, without the address to listen on
	dir     string      // of a proxy's files
	addr    string      // host:port
	process *os.Process // nil for the upstream
}

// contenders returns what Run measures before an upstream. Proxies keep their files in dir.
func contenders(o Options, dir, upstream string) ([]*contender, error) {
	config := filepath.Join(dir, "config.toml")
	proxy := func(name, program string, command ...string) *contender {
		command = append([]string{program, "--upstream", "http://" + upstream, "--config", config}, command...)
		return &contender{name: name, dir: dir, command: command}
	}
	all := []*contender{proxy(subject, o.Program, "serve"), {name: direct, addr: upstream},
		proxy(bare, o.Program, "bench", "baseline")}
	for i, path := range o.Against {
		all = append(all, proxy(fmt.Sprintf("%d: %s", i+1, filepath.Base(path)), path, "serve"))
	}
	// Large results of bash are replaced; all else passes unchanged.
	settings := "rewrite.rent = 0.0\nrewrite.offload_tokens = 1000\n"
	return all, os.WriteFile(config, []byte(settings), 0o600)
}

// start starts a process of the proxy, and returns when it takes requests. The caller calls stop, which kills it.
func (c *contender) start() (stop func(), err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c.addr = free.Addr().String()
	_ = free.Close()
	log, err := os.Create(filepath.Join(c.dir, "log")) // a pipe would cost time here
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own descriptor
	flags := []string{"--listen", c.addr, "--data", filepath.Join(c.dir, c.addr)}
	p := exec.Command(c.command[0], append(c.command[1:], flags...)...)
	p.Stderr = log
	if err := p.Start(); err != nil {
		return nil, err
	}
	c.process = p.Process
	stop = func() { _, _ = p.Process.Kill(), p.Wait() }
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(time.Millisecond) {
		// The bare proxy passes this on, and the upstream answers.
		if status, _, _ := fasthttp.Get(nil, "http://"+c.addr+"/-/ready"); status == fasthttp.StatusOK {
			return stop, nil
		}
	}
	stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("it is not ready: %s", text)
}

// usage returns the CPU time of the process in µs and its resident memory in MB. Where they are not known they are 0:
// for a direct call, and on other systems than Linux.
func (c *contender) usage() (cpu, memory float64) {
	if c.process == nil {
		return 0, 0
	}
	process, _ := procfs.NewProc(c.process.Pid) // where that fails, Stat fails, too, and leaves zeros
	stat, _ := process.Stat()
	return stat.CPUTime() * 1e6, float64(stat.ResidentMemory()) / (1 << 20)
}

// answerLimit bounds one exchange: a proxy that hangs fails the run.
const answerLimit = time.Minute

// request returns a request with a body.
func (c *contender) request(body []byte) *fasthttp.Request {
	r := &fasthttp.Request{}
	r.SetRequestURI("http://" + c.addr + "/v1/chat/completions")
	r.Header.SetMethod(fasthttp.MethodPost)
	r.Header.SetContentType("application/json")
	r.Header.Set("Authorization", "Bearer bench")
	r.SetBodyRaw(body)
	return r
}

// sendFor sends requests over each of several connections for some time, at least one, and reads the whole responses.
// It returns the time of each exchange in µs.
func (c *contender) sendFor(length time.Duration, body []byte, conns int) ([]float64, error) {
	client := &fasthttp.HostClient{Addr: c.addr, MaxConns: conns, ReadTimeout: answerLimit, WriteTimeout: answerLimit,
		MaxIdemponentCallAttempts: 1}
	defer client.CloseIdleConnections()
	took := make([][]float64, conns)
	var group errgroup.Group
	for i := range took {
		group.Go(func() error {
			request, response := c.request(body), &fasthttp.Response{}
			for began := time.Now(); len(took[i]) == 0 || time.Since(began) < length; {
				sent := time.Now()
				err := client.Do(request, response)
				took[i] = append(took[i], 1e6*time.Since(sent).Seconds())
				if err != nil {
					return err
				}
				if response.StatusCode() != fasthttp.StatusOK {
					return fmt.Errorf("the answer is %d: %.200q", response.StatusCode(), response.Body())
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return slices.Concat(took...), err
}

// startUpstream starts the scripted provider, in this process.
func startUpstream() (net.Listener, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the upstream: %w", err)
	}
	server := &fasthttp.Server{MaxRequestBodySize: 100 << 20, Handler: func(ctx *fasthttp.RequestCtx) {
		ctx.SetContentType("application/json")
		ctx.SetBody(chatAnswer(len(ctx.PostBody())))
	}}
	go func() { _ = server.Serve(ln) }() // without it every part of the run fails
	return ln, nil
}

// Baseline serves a minimal fasthttp reverse proxy on listen, host:port: it forwards requests to the URL upstream and
// streams the responses.
func Baseline(listen, upstream string) error {
	target := &fasthttp.HostClient{Addr: strings.TrimPrefix(upstream, "http://"), MaxConns: 8192,
		StreamResponseBody: true, MaxIdemponentCallAttempts: 1}
	server := &fasthttp.Server{MaxRequestBodySize: 100 << 20, Handler: func(ctx *fasthttp.RequestCtx) {
		ctx.Request.Header.Del("Connection")
		if err := target.Do(&ctx.Request, &ctx.Response); err != nil {
			ctx.Error("cannot reach the upstream: "+err.Error(), fasthttp.StatusBadGateway)
			return
		}
		ctx.Response.Header.Del("Connection")
		ctx.Response.ImmediateHeaderFlush = ctx.Response.Header.ContentLength() < 0
	}}
	return server.ListenAndServe(listen)
}

// words give bodies the letter mix of agent traffic, as the inside of a JSON string.
const words = "func return error build test file line read write value index buffer request answer stream token " +
	"model window header parse check commit branch merge import package struct pointer array string\\n "

// conversation returns a Chat Completions request of about size bytes, the same for the same arguments: a system
// message, and calls of a tool with results of some bytes each. It names a model with a window of two million tokens,
// so that epitome clears and compacts nothing.
func conversation(tool string, result, size int) (body []byte) {
	dice := rand.New(rand.NewPCG(1, uint64(size)))
	all := strings.SplitAfter(words, " ")
	body = fmt.Appendf(nil, `{"model":"grok-4-fast","messages":[{"role":"system","content":"You are a careful agent."}`)
	for call := 0; size-len(body) > result; call++ {
		body = fmt.Appendf(body, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function",`+
			`"function":{"name":%q,"arguments":"{\"path\":\"%[1]d\"}"}}]},`+
			`{"role":"tool","tool_call_id":"call_%[1]d","content":"`, call, tool)
		for end := len(body) + result; len(body) < end; {
			body = append(body, all[dice.IntN(len(all))]...)
		}
		body = append(body, `"}`...)
	}
	return append(body, "]}"...)
}

// chatAnswer returns a response of about 1 KB to a request of so many bytes. Its count of the request's tokens is not
// lower than the true one, as epitome would take the provider for one that cuts requests.
func chatAnswer(request int) []byte {
	const bytesPerToken = 5
	return fmt.Appendf(nil, `{"id":"chatcmpl-bench","object":"chat.completion","model":"bench-model",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":150}}`, strings.Repeat(words, 4), request/bytesPerToken)
}
