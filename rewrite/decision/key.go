package decision

import (
	"encoding/base64"
	"encoding/binary"
)

// Key is the text by which the forms of a decision on this route are found again, as long as they are kept; empty if
// all items are sent whole. It stays the same for the same forms, whatever is decided for that request later. It opens
// nothing to who has no ledger, and tells nothing of what a conversation says: all in it is hashed.
func (l Route) Key(d *Decision) string {
	if len(d.Lists) == 0 {
		return ""
	}
	scope := l.scopeRef()
	b := append(scope[:], d.Lists[0][:]...) //nolint:gocritic // the array is a copy
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(b, uint64(d.Depth())))
}

// ReadForms reads the forms that a key names, with the route that their names are recorded under; found is false if one
// of them is not kept any more, or the text is no key.
func ReadForms(g Ledger, key string) (d *Decision, found bool) {
	b, err := base64.RawURLEncoding.DecodeString(key)
	var l Route
	var latest Ref
	if err != nil || len(b) <= len(l.scope)+len(latest) {
		return nil, false
	}
	b = b[copy(l.scope[:], b):]
	b = b[copy(latest[:], b):]
	depth, n := binary.Uvarint(b)
	if n != len(b) || depth > mostItems {
		return nil, false
	}
	d = &Decision{Forms: make([]*Form, depth)}
	return d, l.loadLists(g, d, latest)
}
