package load

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"
)

// Baseline serves the least a fasthttp reverse proxy can be, on listen (host:port), until ctx ends: each request goes
// to the upstream's base URL as fasthttp forwards it, answers are streamed back read by read. It has no limits, no
// cancelling, no care for headers: what a proxy spends beyond it is the price of those.
func Baseline(ctx context.Context, listen, upstream string) error {
	u, err := url.Parse(upstream)
	if err != nil || u.Host == "" {
		return fmt.Errorf("cannot use upstream %q: want http://HOST:PORT", upstream)
	}
	ln, err := Listen(listen)
	if err != nil {
		return err
	}
	return ServeBaseline(ctx, ln, u.Host)
}

// ServeBaseline does what Baseline does on a listener, which it closes. upstream is host:port.
func ServeBaseline(ctx context.Context, ln net.Listener, upstream string) error {
	server := bareServer(upstream)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = server.ShutdownWithContext(grace)
	})
	defer stop()
	if err := server.Serve(ln); err != nil && ctx.Err() == nil {
		return fmt.Errorf("cannot serve on %s: %w", ln.Addr(), err)
	}
	return nil
}

func bareServer(upstream string) *fasthttp.Server {
	target := &fasthttp.HostClient{
		Addr:                      upstream,
		MaxConns:                  8192,
		StreamResponseBody:        true,
		DisablePathNormalizing:    true,
		NoDefaultUserAgentHeader:  true,
		MaxIdemponentCallAttempts: 1,
	}
	return &fasthttp.Server{
		NoDefaultServerHeader: true,
		MaxRequestBodySize:    100 << 20,
		ReadBufferSize:        32 << 10,
		Handler: func(ctx *fasthttp.RequestCtx) {
			ctx.Request.Header.Del("Connection")
			if err := target.Do(&ctx.Request, &ctx.Response); err != nil {
				ctx.Error("upstream: "+err.Error(), fasthttp.StatusBadGateway)
				return
			}
			ctx.Response.Header.Del("Connection")
			ctx.Response.ImmediateHeaderFlush = ctx.Response.Header.ContentLength() < 0
		},
	}
}
