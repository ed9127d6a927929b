package offload

import (
	"crypto/sha256"
	"encoding/binary"
)

const (
	keyPrefix = "a/" // of metadata in the store

	metadataForm = 1 // the first byte; other forms are not read
	metadataSize = 1 + 8 + sha256.Size
)

// metadata are what the store knows of an artifact. Their expiry is the artifact's.
type metadata struct {
	size int64 // bytes
	sum  [sha256.Size]byte
}

func keyOf(name string) string { return keyPrefix + name }

func (m metadata) encode() []byte {
	out := make([]byte, 0, metadataSize)
	out = append(out, metadataForm)
	out = binary.BigEndian.AppendUint64(out, uint64(m.size))
	return append(out, m.sum[:]...)
}

func decode(stored []byte) (m metadata, ok bool) {
	if len(stored) != metadataSize || stored[0] != metadataForm {
		return metadata{}, false
	}
	m.size = int64(binary.BigEndian.Uint64(stored[1:]))
	copy(m.sum[:], stored[9:])
	return m, m.size >= 0
}
