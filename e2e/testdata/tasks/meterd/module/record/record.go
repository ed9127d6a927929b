// Package record decodes the bodies of frames with readings.
//
// A body is the number of seconds since the epoch of the meters, in four bytes, and records. A record is a code, the
// number of its bytes, and these.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"meterd/frame"
	"meterd/units"
)

// Epoch is the second 0 of meters.
var Epoch = time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)

// Reading is a value that a meter measured.
type Reading struct {
	Meter    byte
	At       time.Time
	Quantity string
	Unit     string
	Micro    int64 // the value in millionths of the unit
}

// ErrShort is returned for a body that ends within a record.
var ErrShort = errors.New("record: the body ends within a record")

// Decode returns the readings of a frame and the codes that are in none of units.All. Values that were not measured are
// left out.
func Decode(f frame.Frame) (readings []Reading, unknown []byte, err error) {
	if f.Kind != frame.Readings {
		return nil, nil, fmt.Errorf("record: a frame of kind %#02x has no readings", f.Kind)
	}
	if len(f.Body) < 4 {
		return nil, nil, ErrShort
	}
	at := Epoch.Add(time.Duration(binary.LittleEndian.Uint32(f.Body)) * time.Second)
	for rest := f.Body[4:]; len(rest) > 0; {
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return readings, unknown, ErrShort
		}
		code, value := rest[0], rest[2:2+int(rest[1])]
		rest = rest[2+len(value):]
		unit, known := units.All[code]
		if !known {
			unknown = append(unknown, code)
			continue
		}
		if len(value) != unit.Bytes {
			return readings, unknown, fmt.Errorf("record: code %#02x has %d bytes, want %d", code, len(value), unit.Bytes)
		}
		bits := bits(value, unit.Big)
		if bits == unit.Absent {
			continue
		}
		readings = append(readings, Reading{
			Meter: f.Address, At: at, Quantity: unit.Quantity, Unit: unit.Unit, Micro: micro(bits, unit),
		})
	}
	return readings, unknown, nil
}

func bits(value []byte, big bool) uint64 {
	var bits uint64
	for n := range value {
		next := value[len(value)-1-n]
		if big {
			next = value[n]
		}
		bits = bits<<8 | uint64(next)
	}
	return bits
}

func micro(bits uint64, unit units.Unit) int64 {
	value := int64(bits)
	if unit.Signed && bits>>(8*unit.Bytes-1) == 1 {
		value -= 1 << (8 * unit.Bytes)
	}
	exp := unit.Exp + 6
	for ; exp > 0; exp-- {
		value *= 10
	}
	return value
}
