package unit

import "fmt"

// KeyError is an error about values of a configuration.
type KeyError struct {
	Keys [][]string // where they stand, each as its names from the outermost table on; the one at fault first
	Err  error      // names the key, and says what to write
}

func (e *KeyError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *KeyError) Unwrap() error { return e.Err }

// Wrong returns the error that format and args make about the value under the key of these names.
func Wrong(key []string, format string, args ...any) *KeyError {
	return &KeyError{Keys: [][]string{key}, Err: fmt.Errorf(format, args...)}
}
