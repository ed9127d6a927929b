package pages

import (
	"net/http"

	"epitome/inject"
)

// Memory is what sessions have learned, by project.
type Memory interface {
	List() ([]inject.Notes, error)
	// On reports whether conversations are told of it.
	On() bool
}

// memory is the data of the memory's page.
type memory struct {
	On       bool
	Projects []inject.Notes
}

func (p *Pages) memory(*http.Request) (any, error) {
	if p.Memory == nil {
		return memory{}, nil
	}
	all, err := p.Memory.List()
	return memory{p.remembers(), all}, err
}

// remembers reports whether conversations are told what others have learned.
func (p *Pages) remembers() bool { return p.Memory != nil && p.Memory.On() }
