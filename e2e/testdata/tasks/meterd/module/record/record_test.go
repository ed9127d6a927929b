package record

import (
	"errors"
	"testing"
	"time"

	"meterd/frame"
)

// TestCaptured has a frame of meter 12, whose display showed 18342.7 kWh and -2301 W at that moment.
func TestCaptured(t *testing.T) {
	text, err := frame.Hex("68 13 0c 72 00 2b 9a 1c 04 04 83 cc 02 00 1c 03 ff f7 03 31 02 00 11 14 16")
	if err != nil {
		t.Fatal(err)
	}
	frames, lost, rest := frame.Split(text)
	if len(frames) != 1 || lost != 0 || len(rest) != 0 {
		t.Fatalf("%d frames, %d bytes lost, %d left", len(frames), lost, len(rest))
	}
	readings, unknown, err := Decode(frames[0])
	if err != nil || len(readings) < 2 {
		t.Fatalf("%+v, unknown % x, %v", readings, unknown, err)
	}
	if r := readings[0]; r.Micro != 18342700*1_000_000 || r.Unit != "Wh" || r.Meter != 12 {
		t.Errorf("energy: %+v", r)
	}
	if r := readings[1]; r.Micro != -2301*1_000_000 || r.Unit != "W" {
		t.Errorf("power: %+v", r)
	}
	if at := readings[0].At.Format(time.DateTime); at != "2026-03-17 00:00:00" {
		t.Errorf("at %s", at)
	}
}

func TestAbsent(t *testing.T) {
	body := []byte{0, 0, 0, 0, 0x04, 4, 0xff, 0xff, 0xff, 0xff}
	readings, _, err := Decode(frame.Frame{Kind: frame.Readings, Body: body})
	if err != nil || len(readings) != 0 {
		t.Errorf("%+v, %v, want none", readings, err)
	}
}

func TestShort(t *testing.T) {
	for _, body := range [][]byte{{1, 2}, {0, 0, 0, 0, 4}, {0, 0, 0, 0, 4, 4, 1}} {
		if _, _, err := Decode(frame.Frame{Kind: frame.Readings, Body: body}); !errors.Is(err, ErrShort) {
			t.Errorf("% x: %v", body, err)
		}
	}
}
