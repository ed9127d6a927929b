package aside

import (
	"bytes"
	"errors"

	"epitome/proxy/wire"
)

// header is by what a client declines the tool.
const header = wire.OwnPrefix + "recall"

// Declines reports whether the conversation that begins with a request of these header lines is to have no tool.
func Declines(block []byte) bool { return bytes.EqualFold(wire.Find(block, header), []byte("off")) }

// CheckHeader refuses any other value: one that means yes must not be taken for it, as the configuration decides that.
func CheckHeader(block []byte) error {
	if wire.Find(block, header) == nil || Declines(block) {
		return nil
	}
	return errors.New("cannot use " + header + ": write off, or leave it out; asides under [offload] in the configuration " +
		"gives conversations the tool")
}
