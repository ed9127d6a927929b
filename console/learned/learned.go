// Package learned is what earlier sessions have learned, over HTTP: listed and deleted by the owner's commands and
// pages.
//
// It promises that nobody but the owner is shown a word of it or deletes any, that asking changes nothing, and that one
// request deletes what it names and nothing else.
package learned

import (
	"encoding/json"
	"errors"
	"net/http"

	"epitome/console/access"
	"epitome/console/reply"
	"epitome/inject"
)

// Keeper has the memories that this program keeps itself. Its methods may be called from any goroutine.
type Keeper interface {
	// List are all memories that have entries, by owner.
	List() ([]inject.Notes, error)
	// Forget takes the entry of this id away, or all of the owner if it is empty. It is inject.ErrNoEntry if there is
	// none.
	Forget(o inject.Owner, id string) error
	// On reports whether conversations are told of memories, and sessions learned from.
	On() bool
}

// Listing is the answer to who asks for all memories.
type Listing struct {
	Enabled  *bool          `json:"enabled"` // memories are on; nil if an older version does not say
	Memories []inject.Notes `json:"memories"`
}

// Forgetting is what a request to delete says.
type Forgetting struct {
	Owner inject.Owner `json:"owner"`
	ID    string       `json:"id,omitempty"`
	All   bool         `json:"all,omitempty"` // of the owner, in place of an id
}

// The paths.
const (
	ListPath   = "/-/api/memory"
	ForgetPath = "/-/api/memory/forget"
)

// mostAsked bounds the body of a request to delete, in bytes.
const mostAsked = 16 << 10

// Routes are the handlers of a Keeper's paths, by pattern.
func Routes(k Keeper) map[string]http.Handler {
	s := server{k}
	return map[string]http.Handler{ListPath: owned(s.list), "POST " + ForgetPath: owned(s.forget)}
}

type server struct{ keeper Keeper }

// owned is a handler for the owner alone.
func owned(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !access.Owner(r) {
			reply.Refuse(w, http.StatusForbidden, "what sessions have learned is the owner's to see: run 'epitome open' and log in")
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		serve(w, r)
	})
}

// list answers with all memories.
func (s server) list(w http.ResponseWriter, _ *http.Request) {
	all, err := s.keeper.List()
	if err != nil {
		reply.Refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	on := s.keeper.On()
	reply.JSON(w, http.StatusOK, Listing{&on, append([]inject.Notes{}, all...)})
}

// forget deletes what is asked for.
func (s server) forget(w http.ResponseWriter, r *http.Request) {
	var asked Forgetting
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostAsked)).Decode(&asked)
	if err != nil || asked.Owner.Project == "" || (asked.ID == "") != asked.All {
		reply.Refuse(w, http.StatusBadRequest, `cannot read what to forget: send `+
			`{"owner": {"scope": "…", "project": "…"}, "id": "…"}, or "all": true in place of the id`)
		return
	}
	switch err := s.keeper.Forget(asked.Owner, asked.ID); {
	case errors.Is(err, inject.ErrNoEntry):
		reply.Refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		reply.Refuse(w, http.StatusInternalServerError, err.Error())
	default:
		reply.JSON(w, http.StatusOK, map[string]bool{"forgotten": true})
	}
}
