package wording

// place is the words that stand in one place of a wording.
type place struct {
	usual  uint64
	most   int // how often that came
	values []value
	many   bool // there are more than are counted
	rare   bool // some of them are
}

type value struct {
	word uint64
	n    int
}

func (p *place) add(word uint64) {
	k := 0
	for k < len(p.values) && p.values[k].word != word {
		k++
	}
	if k == len(p.values) {
		if k == mostValues {
			p.many = true
			return
		}
		p.values = append(p.values, value{word: word})
	}
	if p.values[k].n++; p.values[k].n > p.most {
		p.usual, p.most = word, p.values[k].n
	}
}

// varies reports whether no word is usual in the place, of n.
func (p *place) varies(n int) bool {
	const unsure = 3
	return n > unsure && 2*p.most < n
}

// findRare finds out whether few words are usual in the place and others are rare, and returns how many are.
func (p *place) findRare(n int) (rare int) {
	const mostUsual = 3
	p.rare = false
	if p.many || n < leastTexts {
		return 0
	}
	usual := 0
	for _, v := range p.values {
		if v.n <= max(1, n/rareShare) {
			rare += v.n
		} else {
			usual++
		}
	}
	if usual > mostUsual || rare > max(1, n/rareShare) {
		return 0
	}
	p.rare = rare > 0
	return rare
}

// rarity returns how often a word came that is rare in the place, of n; 0 if it is not.
func (p *place) rarity(word uint64, n int) int {
	for _, v := range p.values {
		if v.word == word && v.n <= max(1, n/rareShare) {
			return v.n
		}
	}
	return 0
}
