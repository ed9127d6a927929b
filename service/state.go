package service

import (
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"epitome/event/journal"
	"epitome/store"
	"epitome/window"
)

// State says how an epitome runs. It tells its owner under /-/health.
type State struct {
	Status    string                 `json:"status"`
	Version   string                 `json:"version"`
	Mode      string                 `json:"mode"`
	Upstream  string                 `json:"upstream"` // the default one
	Named     bool                   `json:"named"`    // --upstream named it, so it serves every agent
	Upstreams map[string]string      `json:"upstreams"`
	File      string                 `json:"file"`    // of the configuration; empty: the user's own
	Hosted    bool                   `json:"hosted"`  // it ends with the last command that uses it
	Keyed     bool                   `json:"keyed"`   // clients need keys of epitome's
	Runtime   bool                   `json:"runtime"` // agents of "epitome run" are told about their machine
	Loading   bool                   `json:"loading"` // the record of earlier runs is being read: Newest is empty
	Newest    []journal.Conversation `json:"newest"`

	Windows map[string]window.Window `json:"windows"` // of the models of Newest now, by conversation
}

// State returns how the epitome runs.
func (s *Service) State() State {
	conf := s.Config()
	now := State{
		Status: "ok", Version: Version(), Mode: conf.Mode, Upstream: conf.Upstream, Named: conf.Named,
		Upstreams: map[string]string{}, Windows: map[string]window.Window{}, Keyed: len(conf.Clients) > 0,
		File: conf.File(), Hosted: conf.Hosted, Runtime: conf.Context.Runtime, Loading: !s.Book.Loaded(),
	}
	if !now.Loading {
		all := s.Book.Conversations()
		now.Newest = all[:min(100, len(all))]
	}
	for _, c := range now.Newest {
		now.Windows[c.ID] = s.Windows.Of(c.Upstream, c.Model)
	}
	for name, u := range conf.Upstreams {
		now.Upstreams[name] = u.URL
	}
	return now
}

// Run returns what became of the requests of an "epitome run" that has ended. Its exchanges end a moment later; it waits
// for that half a second at most, as others may be under way.
func (s *Service) Run(name string) (journal.Run, error) {
	for n := 0; n < 50 && s.Proxy.InFlight() > 0; n++ {
		time.Sleep(10 * time.Millisecond)
	}
	return s.Book.Run(name)
}

// Health returns the State, for the owner's commands.
func (s *Service) Health() any { return s.State() }

// Ready returns the state of each part that is used and may fail, and whether new requests are taken.
func (s *Service) Ready() (parts map[string]string, welcome bool) {
	parts = map[string]string{}
	switch facts := s.Store.(type) {
	case *store.Redis:
		parts["shared_store"] = facts.State()
	case *store.Badger:
		state := facts.State()
		if state == "full" { // they are on the same disk
			parts["artifacts"] = state
		} else if state != "" {
			parts["store"] = state
		}
	default:
		parts["store"] = "memory"
	}
	if s.Shelf.Fails() {
		parts["artifacts"] = "cannot be written"
	}
	if state := s.Shelf.Server(); state != "" {
		parts["bucket"] = state
	}
	return parts, !s.Proxy.Stopping()
}

// Keeps reports whether artifacts can be kept now.
func (s *Service) Keeps() bool {
	parts, _ := s.Ready()
	takes := []string{"", store.Answers, store.Slow}
	return parts["artifacts"] == "" && slices.Contains(takes, parts["bucket"])
}

// IsClient reports whether a request with the headers has the key of a client.
func (s *Service) IsClient(h http.Header) bool { return s.Proxy.IsClient(h) }

// Artifact returns what was taken out under a name, or offload.ErrUnknown.
func (s *Service) Artifact(name string) ([]byte, error) { return s.Shelf.Get(name) }

// checkout matches time and commit in the version of a build from a checkout.
var checkout = regexp.MustCompile(`-(0\.)?\d{14}-([0-9a-f]{7})[0-9a-f]*`)

// Version is the module's version, as it is told everywhere. Of a build from a checkout it has the start of the commit.
func Version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return checkout.ReplaceAllString(b.Main.Version, "-$2")
}
