package rules

import (
	"cmp"
	"encoding/json"
	"slices"
)

// maxMarkers is how many blocks of a request may have cache_control, the automatic one included.
const maxMarkers = 4

// Marker is cache_control: the prefix up to here is to be cached.
type Marker struct {
	Long bool   // for an hour, not for five minutes
	path string // of its ttl
}

// readMarker reads cache_control; nil for none.
func readMarker(raw json.RawMessage, path string) (*Marker, *Refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	fields, refused := ReadObject(raw, path)
	if refused == nil {
		refused = checkFields(fields, path, "type! ttl scope")
	}
	if refused != nil {
		return nil, refused
	}
	if fields.Text("type") != "ephemeral" {
		return nil, Flaw("%s.type: Input should be 'ephemeral'", path)
	}
	ttl := fields.Text("ttl")
	if fields.Has("ttl") && ttl != "5m" && ttl != "1h" {
		return nil, Flaw("%s.ttl: Input should be '5m' or '1h'", path)
	}
	return &Marker{Long: ttl == "1h", path: path + ".ttl"}, nil
}

// MarkersWithin adds the markers of a block, and of what is in it, to all.
func (b *Block) MarkersWithin(all []*Marker) []*Marker {
	for _, in := range b.Inner {
		all = in.MarkersWithin(all)
	}
	if b.marker != nil {
		all = append(all, b.marker)
	}
	return all
}

// markLast gives the automatic marker to the last block that can have one, unless that has its own.
func (q *Request) markLast(automatic *Marker) {
	all := append(slices.Clone(q.Tools), q.System...)
	for _, m := range q.Messages {
		all = append(all, m.Blocks...)
	}
	for _, b := range slices.Backward(all) {
		if !IsThinking(b) {
			b.marker = cmp.Or(b.marker, automatic)
			return
		}
	}
}

// checkMarkers wants four markers at most, the longer ones before the shorter.
func checkMarkers(q *Request) *Refusal {
	var all []*Marker
	for _, b := range q.Tools {
		all = b.MarkersWithin(all)
	}
	for _, b := range q.System {
		all = b.MarkersWithin(all)
	}
	for _, m := range q.Messages {
		for _, b := range m.Blocks {
			all = b.MarkersWithin(all)
		}
	}
	if len(all) > maxMarkers {
		return Flaw("A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarkers, len(all))
	}
	short := false
	for _, m := range all {
		if m.Long && short {
			return Flaw("%s: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", m.path)
		}
		short = short || !m.Long
	}
	return nil
}
