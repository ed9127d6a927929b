//go:build !unix

package soak

import "errors"

// stand cannot have the server stand still here.
func (s *server) stand(still bool) error {
	if !still {
		return nil
	}
	return errors.New("a shared store that stands still: this system cannot stop a process for a while")
}
