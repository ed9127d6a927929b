package proxy

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"

	"github.com/tidwall/gjson"

	"epitome/dialect"
	"epitome/proxy/wire"
)

// RouteRule is one table [[routes]] of config.toml: it sends requests whose body names a matching model to an upstream.
type RouteRule struct {
	Model    string `toml:"model"` // pattern: * is any run of characters, ? is one; case does not matter
	Upstream string `toml:"upstream"`
}

// namedPath begins the paths that name their upstream, and maybe the run that the agent was started by: /u/NAME~RUN/v1.
const namedPath = "/u/"

// route chooses the upstream of the request and its target there, and refuses what must not go to that one.
func (x *exchange) route() error {
	if err := x.chooseUpstream(); err != nil {
		return err
	}
	up := x.upstream
	path, _, _ := bytes.Cut(x.target, []byte("?"))
	if up.hasCredential {
		if err := x.checkSender(); err != nil {
			return err
		}
	}
	if (up.hasCredential || up.base != "") && dotSegment.Match(path) {
		return refuse(400, "bad_request",
			`the path has a segment "." or "..", which may lead out of the upstream's base URL: send the path without it`)
	}
	if isUpgrade(x.head) && bytes.HasSuffix(path, []byte("/responses")) {
		// Clients go on over plain HTTP, where requests and answers stay visible one by one.
		return refuse(426, "upgrade_required",
			"epitome passes /v1/responses over HTTP only: send the request again without Upgrade",
			"Connection: upgrade\r\nUpgrade: HTTP/1.1\r\n")
	}
	if !version.MatchString(up.base) {
		x.target = x.meantTarget(x.target)
	}
	x.target = up.join(x.target)
	x.event.Upstream = up.name
	return nil
}

// chooseUpstream sets the upstream, and the target without that one's base: by the path, or by the model that the body
// names.
func (x *exchange) chooseUpstream() (err error) {
	named, isNamed := bytes.CutPrefix(x.target, []byte(namedPath))
	if isNamed {
		end := bytes.IndexAny(named, "/?")
		if end < 0 {
			end = len(named)
		}
		name, run, _ := bytes.Cut(named[:end], []byte("~"))
		x.run = string(run)
		x.target = append([]byte("/"), bytes.TrimPrefix(named[end:], []byte("/"))...)
		x.upstream, err = x.set.lookUp(string(name))
		if err != nil {
			return refuse(404, "unknown_upstream", err.Error())
		}
		return nil
	}
	x.upstream = x.set.fallback
	if len(x.set.conf.Routes) > 0 {
		body, _ := x.decoded() // a body that cannot be read names no model
		x.upstream = x.set.forModel(modelOf(body))
	}
	return nil
}

// isUpgrade reports whether a request asks to switch protocols.
func isUpgrade(head []byte) bool {
	return wire.HasToken(wire.Values(head, "connection"), "upgrade") && wire.Find(head, "upgrade") != nil
}

// checkSender refuses a request that a web page may have made, as it would spend the credential of the configuration.
// Programs with pages of their own have origins of other schemes.
//
// Browsers name the page's origin and say how it is related to the host that it asks. Only a GET of a page whose own
// name now leads to this machine has neither, and then Host has that name. A request with a client's key is of no page.
// Beyond loopback, programs may use names that are not in console.hosts.
func (x *exchange) checkSender() error {
	host := string(x.ctx.Host())
	isKnown := x.proxy.pages.KnowsHost
	site := wire.Find(x.head, "sec-fetch-site")
	origin := wire.Find(x.head, "origin")
	isPage := bytes.HasPrefix(origin, []byte("http")) || string(origin) == "null"
	if site != nil {
		isSame := wire.EqualFold(site, "same-origin") || wire.EqualFold(site, "none")
		at, err := url.Parse(string(origin))
		isPage = !isSame || !isKnown(host) || isPage && (err != nil || !isKnown(at.Host))
	}
	if isPage {
		return refuse(403, "cross_site",
			"epitome adds your credential to requests for this upstream, so it takes none from web pages")
	}
	if x.proxy.loopback && x.event.Client == "" && !isKnown(host) {
		return refuse(403, "unknown_host", fmt.Sprintf("epitome adds your credential to requests for this upstream, "+
			"and a web page may have sent this one, as it does not know the host name %.100q: use 127.0.0.1 or localhost, "+
			"or add a name of your own, such as host.docker.internal for containers, to console.hosts", host))
	}
	return nil
}

// dotSegment matches a segment of a path that leads elsewhere once a server has resolved it, also where the server
// first decodes the path, once or more, or takes a backslash for a slash or drops a segment's parameters.
var dotSegment = regexp.MustCompile(
	`(?i)(^|/|\\|%(25)*(2f|5c))(\.|%(25)*2e){1,2}($|/|\\|;|%(25)*(2f|5c|3b))`)

// modelOf returns the model that a body names, of whatever API it is; empty if it names none.
func modelOf(body []byte) string { return gjson.GetBytes(body, "model").String() }

// meantTarget adds the version of an API, such as /v1, to a target that has none, for an upstream whose base has none
// either: some clients expect it in the base URL that they are given. Each dialect knows its own requests, which are
// POSTs, by their path and by headers that only its clients send.
func (x *exchange) meantTarget(target []byte) []byte {
	if !x.ctx.IsPost() {
		return target
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	has := func(header string) bool { return wire.Find(x.head, header) != nil }
	for _, d := range dialect.All {
		if meant := d.MeantPath(path, has); meant != nil {
			return append(meant, target[len(path):]...)
		}
	}
	return target
}

// whyNotFound says which mistake in a base URL explains that an upstream does not have a target; empty if none does.
func whyNotFound(target []byte) string {
	path, _, _ := bytes.Cut(target, []byte("?"))
	switch {
	case bytes.Contains(path, []byte("/v1/v1")):
		return "the path has /v1 twice: leave it out of the upstream's url"
	case !version.Match(path):
		return "the path has no /v1: write it at the end of the client's base URL, or of the upstream's url"
	}
	return ""
}
