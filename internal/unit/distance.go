package unit

// Distance returns how many letters, of one byte each, must be put in, left out or changed to make b of a.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: from the part of a read so far to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
