//go:build !unix

package config

// mayWrite reports nothing: who may write is not told here without writing.
func mayWrite(string) error { return nil }
