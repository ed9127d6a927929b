package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// What lies under a key:
//
//	offset  bytes
//	0       1      format
//	1       4      CRC-32C over the key's length (4 bytes), the key, and everything from offset 5 on
//	5       8      version of the fact
//	13      8      expiry, nanoseconds since 1970
//	21      …      value
//
// Numbers are big endian. The checksum holds the key too: a value that damage brought under another key is refused.
const (
	format    = 1
	sumOffset = 1
	sumEnd    = 5
	headSize  = 21
)

// appendRecord appends the stored form of r under key.
func appendRecord(dst []byte, key string, r record) []byte {
	start := len(dst)
	dst = append(dst, format, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, r.version)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.expires))
	dst = append(dst, r.value...)
	stored := dst[start:]
	binary.BigEndian.PutUint32(stored[sumOffset:], checksum(key, stored[sumEnd:]))
	return dst
}

// parseRecord reads the stored form under key. The value is a part of stored.
func parseRecord(key string, stored []byte) (record, error) {
	if len(stored) < headSize {
		return record{}, fmt.Errorf("%w: %d bytes are left of it", errDamaged, len(stored))
	}
	if stored[0] != format {
		return record{}, fmt.Errorf("%w: its format is %d; want %d", errDamaged, stored[0], format)
	}
	if binary.BigEndian.Uint32(stored[sumOffset:]) != checksum(key, stored[sumEnd:]) {
		return record{}, fmt.Errorf("%w: its checksum does not fit", errDamaged)
	}
	r := record{
		version: binary.BigEndian.Uint64(stored[5:]),
		expires: int64(binary.BigEndian.Uint64(stored[13:])),
		value:   stored[headSize:],
	}
	if r.version == 0 {
		return record{}, fmt.Errorf("%w: its version is 0", errDamaged)
	}
	return r, nil
}

func checksum(key string, rest []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	head := make([]byte, 0, 128) // stays on the stack for keys as long as ours
	head = append(binary.BigEndian.AppendUint32(head, uint32(len(key))), key...)
	return crc32.Update(crc32.Update(0, table, head), table, rest)
}
