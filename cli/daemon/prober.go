package daemon

import (
	"net/url"
	"strings"

	"epitome/config"
	"epitome/proxy"
)

// probedOf are the upstreams that may be asked how much their models hold, and whether they are the user's own.
func probedOf(conf config.Config) map[string]bool {
	servers := map[string]bool{}
	if !conf.Window.Probe {
		return servers
	}
	for name, u := range conf.Upstreams {
		if own := config.IsLocal(u.URL); own || tells(u) {
			servers[name] = own
		}
	}
	return servers
}

// tells reports whether an upstream is a provider that publishes how much its models hold, and that would tell us:
// but for OpenRouter they want a key, and a client's own is not used for what it has not asked.
func tells(u proxy.UpstreamConfig) bool {
	at, err := url.Parse(u.URL)
	if err != nil {
		return false
	}
	switch strings.ToLower(at.Hostname()) {
	case "openrouter.ai":
		return true
	case "api.groq.com", "api.together.xyz", "api.fireworks.ai", "api.mistral.ai", "api.moonshot.ai", "api.moonshot.cn":
		for name, value := range u.Headers {
			if strings.EqualFold(name, "Authorization") && value != "" {
				return true
			}
		}
	}
	return false
}
