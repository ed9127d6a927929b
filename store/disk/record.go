package disk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"epitome/store"
	"epitome/store/records"
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

// A value with its head stays below valueThreshold, so that every value lives in the
// tree, whose space Badger gives back, and none in the value log, whose space it does not. This line does not compile
// otherwise.
const _ = uint(valueThreshold - 1 - headSize - store.MaxValue)

// appendRecord appends the stored form of r under key.
func appendRecord(dst []byte, key string, r records.Record) []byte {
	start := len(dst)
	dst = append(dst, format, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, r.Version)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Expires))
	dst = append(dst, r.Value...)
	stored := dst[start:]
	binary.BigEndian.PutUint32(stored[sumOffset:], checksum(key, stored[sumEnd:]))
	return dst
}

// parseRecord reads the stored form under key. The value is a part of stored.
func parseRecord(key string, stored []byte) (records.Record, error) {
	if len(stored) < headSize {
		return records.Record{}, fmt.Errorf("%w: %d bytes are left of it", records.ErrDamaged, len(stored))
	}
	if stored[0] != format {
		return records.Record{}, fmt.Errorf("%w: its format is %d; want %d", records.ErrDamaged, stored[0], format)
	}
	if binary.BigEndian.Uint32(stored[sumOffset:]) != checksum(key, stored[sumEnd:]) {
		return records.Record{}, fmt.Errorf("%w: its checksum does not fit", records.ErrDamaged)
	}
	r := records.Record{
		Version: binary.BigEndian.Uint64(stored[5:]),
		Expires: int64(binary.BigEndian.Uint64(stored[13:])),
		Value:   stored[headSize:],
	}
	if r.Version == 0 {
		return records.Record{}, fmt.Errorf("%w: its version is 0", records.ErrDamaged)
	}
	return r, nil
}

func checksum(key string, rest []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	head := make([]byte, 0, 128) // stays on the stack for keys as long as ours
	head = append(binary.BigEndian.AppendUint32(head, uint32(len(key))), key...)
	return crc32.Update(crc32.Update(0, table, head), table, rest)
}
