package rules

import (
	"epitome/internal/fakeapi"
)

// seal is what a signature says. It is signed with a key that every server of this package has, so that what one has
// thought another one accepts.
type seal struct {
	Model   string // that thought it
	Answer  string // which it is part of
	Place   int    // among the thinking of that answer, from 1
	Of      int    // how much of it that answer has
	Content string // digest of the text, or of nothing where it is redacted
	Tokens  int
	Bond
}

// key signs seals.
const key = "scripted messages"

// sign returns the signature.
func (s seal) sign() string { return fakeapi.Seal(key, s) }

// unseal reads a signature, and reports whether it is one.
func unseal(signature string) (s seal, ok bool) {
	ok = fakeapi.Open(key, signature, &s)
	return s, ok
}

// Bond is what thinking at one point of a conversation is bound to.
type Bond struct {
	System string // digest
	Tools  string // digest
	Before string // digest of all blocks of messages before it, thinking aside
	Last   string // digest of the signature of the thinking before it; "" for none
}

// newBond is the bond of what would be thought first.
func newBond(q *Request) Bond {
	var b Bond
	for _, s := range q.System {
		b.System = fakeapi.Digest(b.System, s.Canon)
	}
	for _, t := range q.Tools {
		if !t.IsDeferred() {
			b.Tools = fakeapi.Digest(b.Tools, t.Canon)
		}
	}
	return b
}

// Pass takes a block that is no thinking into the bond.
func (b *Bond) Pass(role string, canon []byte) {
	b.Before = fakeapi.Digest(b.Before, append([]byte(role+" "), canon...))
}

// think takes thinking into the bond.
func (b *Bond) think(signature string) { b.Last = fakeapi.Digest("", []byte(signature)) }

// difference says what is not as it was when s was sealed; "" where all is. The oldest thinking may be left out: s may
// then be the first.
func (b *Bond) difference(s seal) string {
	switch {
	case s.System != b.System:
		return "The `system` prompt differs."
	case s.Tools != b.Tools:
		return "The `tools` differ."
	case s.Before != b.Before:
		return "The messages before the block differ."
	case s.Last != b.Last && b.Last != "":
		return "The thinking block that preceded this one is missing."
	}
	return ""
}

// Signer signs what one answer thinks.
type Signer struct {
	Model  string
	Answer string // its id
	Of     int    // how much thinking the answer has
	Here   Bond   // what is thought next is bound to this
	place  int    // of the last
}

// Sign signs thinking as it is shown, and takes it into the bond.
func (s *Signer) Sign(shown string, tokens int) string {
	s.place++
	made := seal{Model: s.Model, Answer: s.Answer, Place: s.place, Of: s.Of, Content: fakeapi.Digest("", []byte(shown)),
		Tokens: tokens, Bond: s.Here}
	signature := made.sign()
	s.Here.think(signature)
	return signature
}

// Compact seals a compaction. What comes after it is bound as if nothing had been taken out.
func (s *Signer) Compact(text string) string {
	return seal{Model: s.Model, Answer: s.Answer, Content: fakeapi.Digest("", []byte(text)), Bond: s.Here}.sign()
}
