package lines

// Change is a line of a difference.
type Change struct {
	Line
	Kind string // del, ins, skip, or empty: it is in both
	Left int    // of skip: how many lines that were taken out are not shown here
}

// MostCompared bounds the lines of each side that are compared; it bounds the memory of one comparison to 8 MB.
const MostCompared = 2000

// Compare returns what turns one text into the other, line by line, with as many lines kept as can be.
func Compare(before, after []Line) (all []Change) {
	start := 0
	for start < min(len(before), len(after)) && same(before[start], after[start]) {
		all = append(all, Change{Line: before[start]})
		start++
	}
	a, b := before[start:], after[start:]
	kept := keptLines(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && same(a[i], b[j]):
			all = append(all, Change{Line: a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && kept(i+1, j) >= kept(i, j+1):
			all = append(all, Change{Line: a[i], Kind: "del"})
			i++
		default:
			all = append(all, Change{Line: b[j], Kind: "ins"})
			j++
		}
	}
	return all
}

func same(a, b Line) bool { return a.Raw == b.Raw && a.Cut == b.Cut }

// keptLines counts how many lines the ends of two texts have in common in their order, from line i of one and line j
// of the other.
func keptLines(a, b []Line) func(i, j int) int16 {
	width := len(b) + 1
	table := make([]int16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			at := i*width + j
			if same(a[i], b[j]) {
				table[at] = table[at+width+1] + 1
			} else {
				table[at] = max(table[at+width], table[at+1])
			}
		}
	}
	return func(i, j int) int16 { return table[i*width+j] }
}

const (
	longestRun = 12 // of lines that were taken out, which are shown one by one
	runEnds    = 4  // that are shown at each end of a longer one
)

// Fold puts one change in the place of the middle of each long run of lines that were taken out.
func Fold(all []Change) (folded []Change) {
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].Kind == "del" {
			end++
		}
		switch {
		case end == i:
			folded = append(folded, all[i])
			end++
		case end-i <= longestRun:
			folded = append(folded, all[i:end]...)
		default:
			folded = append(folded, all[i:i+runEnds]...)
			folded = append(folded, Change{Line: all[i+runEnds].Line, Kind: "skip", Left: end - i - 2*runEnds})
			folded = append(folded, all[end-runEnds:end]...)
		}
		i = end
	}
	return folded
}
