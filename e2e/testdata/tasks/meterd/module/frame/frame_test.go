package frame

import (
	"bytes"
	"testing"
)

func TestSplit(t *testing.T) {
	one := Frame{Address: 3, Kind: Readings, Body: []byte{0x68, 1, 2}}
	two := Frame{Address: 4, Kind: Hello}
	stream := append([]byte{0xe5, start, 0}, one.Bytes()...)
	stream = append(stream, 0xff)
	stream = append(stream, two.Bytes()...)
	stream = append(stream, one.Bytes()[:5]...)
	frames, lost, rest := Split(stream)
	if len(frames) != 2 || !bytes.Equal(frames[0].Body, one.Body) || frames[1].Address != 4 {
		t.Errorf("frames: %+v", frames)
	}
	if lost != 4 || len(rest) != 5 {
		t.Errorf("%d bytes lost, %d left, want 4 and 5", lost, len(rest))
	}
}

func TestSplitBroken(t *testing.T) {
	text := Frame{Address: 3, Kind: Alarm, Body: []byte{9}}.Bytes()
	text[4]++
	if frames, lost, _ := Split(append(text, 0, 0, 0)); len(frames) != 0 || lost != 10 {
		t.Errorf("%d frames, %d bytes lost, want 0 and 10", len(frames), lost)
	}
}
