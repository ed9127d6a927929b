package record

import (
	"testing"

	"meterd/frame"
)

func TestHidden(t *testing.T) {
	const micro = 1_000_000
	for _, test := range []struct {
		value string // code, length, bytes
		name  string // "" for what is not archived
		unit  string
		want  int64 // millionths
	}{
		{"04 04 83 cc 02 00", "energy-import", "Wh", 18342700 * micro},
		{"04 04 ff ff ff ff", "", "", 0},
		{"07 04 00 00 01 02", "energy-export", "Wh", 2580 * micro},
		{"07 04 ff ff ff ff", "", "", 0},
		{"0b 02 fc 08", "voltage-l1", "V", 230 * micro},
		{"0b 02 ff ff", "", "", 0},
		{"0c 02 01 09", "voltage-l2", "V", 230_500_000},
		{"0d 02 59 d8", "voltage-l3", "V", 230 * micro},
		{"0d 02 00 00", "", "", 0},
		{"0d 02 ff ff", "voltage-l3", "V", 655_350_000},
		{"13 03 18 fc ff", "current-sum", "A", -1 * micro},
		{"13 03 ff ff 7f", "", "", 0},
		{"13 03 ff ff ff", "current-sum", "A", -1000},
		{"18 02 c3 5c", "frequency", "Hz", 50_012_000},
		{"18 02 ff ff", "", "", 0},
		{"1c 03 ff f7 03", "power", "W", -2301 * micro},
		{"1c 03 80 00 00", "", "", 0},
		{"1d 03 ff ff fe", "power-reactive", "var", -20 * micro},
		{"1d 03 80 00 00", "", "", 0},
		{"22 02 9c ff", "temperature", "C", -10 * micro},
		{"22 02 00 80", "", "", 0},
		{"2a 03 05 01 00", "flow", "l/h", 2610 * micro},
		{"2a 03 ff ff ff", "", "", 0},
		{"31 02 00 11", "", "", 0},
		{"36 04 dc 05 00 00", "volume", "m3", 1_500_000},
		{"36 04 fe ff ff ff", "", "", 0},
		{"36 04 ff ff ff ff", "volume", "m3", 4294967295 * 1000},
		{"3e 04 00 00 00 2a", "heat", "Wh", 42000 * micro},
		{"3e 04 ff ff ff ff", "", "", 0},
		{"44 01 02", "tariff", "1", 2 * micro},
		{"44 01 00", "", "", 0},
		{"4f 02 ff 9c", "phase-angle", "deg", -1 * micro},
		{"4f 02 7f ff", "", "", 0},
		{"52 03 01 00 00", "", "", 0},
	} {
		value, err := frame.Hex("00 00 00 00 " + test.value)
		if err != nil {
			t.Fatal(err)
		}
		readings, _, err := Decode(frame.Frame{Address: 9, Kind: frame.Readings, Body: value})
		if err != nil {
			t.Errorf("%s: %v", test.value, err)
			continue
		}
		if test.name == "" {
			if len(readings) != 0 {
				t.Errorf("%s: %+v, want none", test.value, readings)
			}
			continue
		}
		if len(readings) != 1 {
			t.Errorf("%s: %d readings, want %s", test.value, len(readings), test.name)
			continue
		}
		if r := readings[0]; r.Quantity != test.name || r.Unit != test.unit || r.Micro != test.want {
			t.Errorf("%s: %+v, want %s, %d millionths of %s", test.value, r, test.name, test.want, test.unit)
		}
	}
}
