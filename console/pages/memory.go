package pages

import (
	"encoding/json"
	"net/http"
	"net/url"

	"epitome/console/access"
	"epitome/summarize/memory"
)

// Memories are what sessions have learned.
type Memories interface {
	// List are all that this program keeps itself, by owner.
	List() ([]memory.Kept, error)
	// Elsewhere reports whether new entries are kept by another server.
	Elsewhere() bool
	// Remembers reports whether conversations are told of them.
	Remembers() bool
}

// memoryPage is what sessions have learned, by project.
type memoryPage struct {
	Elsewhere bool
	On        bool
	Projects  []projectMemory
}

// projectMemory is what is known of one project.
type projectMemory struct {
	memory.Kept
	Scope string // as much of it as tells it from others; empty if it is everybody's
	Names string // the owner as the script sends it back; empty if it is too long for any that was kept
}

// What one page shows at most.
const (
	mostProjects = 200
	mostNames    = 4 << 10 // bytes of an owner's names
)

// memory makes the page of what sessions have learned.
func (p *Pages) memory(r *http.Request) (*page, error) {
	const title = "Memory"
	if !access.Owner(r) {
		return &page{Status: http.StatusForbidden, Template: "notice", Title: title, Body: notice{
			Text: "What sessions have learned is shown to the owner of this epitome alone.",
			Cure: "To log in, run epitome open as the user who runs epitome."}}, nil
	}
	made := memoryPage{On: p.remembers()}
	if p.plugs.Memories != nil {
		all, err := p.plugs.Memories.List()
		if err != nil {
			return nil, err
		}
		made.Elsewhere = p.plugs.Memories.Elsewhere()
		for _, m := range all[:min(len(all), mostProjects)] {
			made.Projects = append(made.Projects, shownMemory(m))
		}
	}
	return &page{Template: "memory", Title: title, Here: "memory", Body: made}, nil
}

func shownMemory(m memory.Kept) projectMemory {
	const letters = 8 // as many as tell one scope from another
	names, err := json.Marshal(m.Owner)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	made := projectMemory{Kept: m, Scope: m.Owner.Scope[:min(len(m.Owner.Scope), letters)]}
	if len(names) <= mostNames {
		made.Names = url.PathEscape(string(names))
	}
	return made
}

// remembers reports whether conversations are told of what others have learned.
func (p *Pages) remembers() bool { return p.plugs.Memories != nil && p.plugs.Memories.Remembers() }
