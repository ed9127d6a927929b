//go:build !unix

package redis

import "errors"

// Stand cannot have the server stand still here.
func (s *Server) Stand(still bool) error {
	if !still {
		return nil
	}
	return errors.New("a shared store that stands still: this system cannot stop a process for a while")
}
