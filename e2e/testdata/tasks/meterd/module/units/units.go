// Package units says what the codes of records mean.
package units

// Unit is how a meter writes a quantity.
type Unit struct {
	Quantity string // in words of the gateway, such as energy-import
	Unit     string // such as Wh
	Bytes    int    // of a value
	Big      bool   // most significant byte first
	Signed   bool   // two's complement
	Exp      int    // a value counts so many powers of ten of the unit
	Absent   uint64 // the bits of a value that was not measured
}

// All has the codes that are known.
var All = map[byte]Unit{
	0x04: {Quantity: "energy-import", Unit: "Wh", Bytes: 4, Exp: 2, Absent: 0xffffffff},
	0x1c: {Quantity: "power", Unit: "W", Bytes: 3, Big: true, Signed: true, Exp: 0, Absent: 0x800000},
}
