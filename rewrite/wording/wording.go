// Package wording tells texts that say the same of different things from the few that say something else.
//
// It promises that its counts are true; that where texts have many wordings, none of them is odd; that its time grows
// with the texts and no faster; and that it remembers a bounded number of wordings, and a byte of each text.
package wording

// Bounds of what is learned.
const (
	mostWordings = 64 // beyond which none is told
	mostCommon   = 12 // wordings of more than few texts
	mostWords    = 64 // of a text; a longer one is worded as other long ones
	mostValues   = 24 // words in one place
	leastTexts   = 20 // fewer show no habit
	rareShare    = 40 // one of so many is rare
	oddShare     = 10 // where more than one of so many is odd, none is
	fewestTold   = 3  // words that make an example of a wording
	long         = 0  // the wording of texts that are too long
)

// Texts are what is known of the wordings of texts.
type Texts struct {
	all  []wording
	of   []uint8 // the wording of each text
	many bool    // there are more than are told
	told verdict
	odd  int // texts that are, at most, once that was asked for
	room [mostWords]uint64
	nums [mostNumbers]float64
}

// verdict is whether the texts have few wordings, once that was asked for.
type verdict uint8

const (
	unasked verdict = iota
	few
	none
)

// wording is what texts have in common that have the same words in most of their places. A number is like any other,
// and so is a path.
type wording struct {
	n      int
	first  string // of the texts
	places []place
	scales []scale // of the numbers in them, if all have as many
}

// Wording is a wording that many texts have.
type Wording struct {
	Example string // the first of the texts
	N       int
	Telling bool // the example shows what the others are like
}

// usual returns how many places have words that are usual there, and how many have numbers.
func (w *wording) usual() (words, numbers int) {
	for i := range w.places {
		switch p := &w.places[i]; {
		case p.varies(w.n):
		case p.usual == number:
			numbers++
		default:
			words++
		}
	}
	return words, numbers
}

// isFirm reports whether a word is usual in its place, and at least half of the places have such words or numbers.
func (w *wording) isFirm() bool {
	words, numbers := w.usual()
	return words > 0 && 2*(words+numbers) >= len(w.places)
}

// isTold reports whether one of the texts shows what the others are like.
func (w *wording) isTold() bool {
	words, _ := w.usual()
	return words >= fewestTold && 2*words >= len(w.places)
}

// Add takes a text in.
func (t *Texts) Add(text []byte) {
	if t.many {
		return
	}
	t.told = unasked
	if len(t.all) == 0 {
		t.all = append(t.all, wording{})
	}
	k := long
	if words, ok := read(text, t.room[:0]); ok {
		if k = t.find(words); k < 0 {
			if k = len(t.all); k > mostWordings {
				*t = Texts{many: true}
				return
			}
			t.all = append(t.all, wording{first: string(text), places: make([]place, len(words))})
		}
		for i, w := range words {
			t.all[k].places[i].add(w)
		}
	}
	t.addNumbers(k, text)
	t.all[k].n++
	t.of = append(t.of, uint8(k)) //nolint:gosec // at most mostWordings
}

// addNumbers takes in the numbers of a text of wording k. Where a text has more or fewer than the first of that
// wording, nothing is told of its numbers.
func (t *Texts) addNumbers(k int, text []byte) {
	w := &t.all[k]
	if k == long || w.n > 0 && len(w.scales) == 0 {
		return
	}
	list := numbersOf(text, t.nums[:0])
	if w.n == 0 {
		w.scales = make([]scale, len(list))
	}
	if len(list) != len(w.scales) {
		return
	}
	for i, v := range list {
		w.scales[i].add(v, len(t.of))
	}
}

// find returns the wording that has most words of a text in their places, and at least half of those that do not vary;
// -1 if there is none.
func (t *Texts) find(words []uint64) int {
	best, at := 0., -1
	for k := long + 1; k < len(t.all); k++ {
		w := &t.all[k]
		if len(w.places) != len(words) {
			continue
		}
		same, fixed := 0, 0
		for i := range w.places {
			if w.places[i].varies(w.n) {
				continue
			}
			if fixed++; w.places[i].usual == words[i] {
				same++
			}
		}
		if share := float64(same) / float64(max(fixed, 1)); 2*same >= fixed && share > best {
			best, at = share, k
		}
	}
	return at
}

// isRare reports whether few texts have wording k.
func (t *Texts) isRare(k int) bool { return t.all[k].n <= max(1, len(t.of)/rareShare) }

// AreFew reports whether the texts have few wordings, but for few texts. Otherwise there is nothing to tell.
func (t *Texts) AreFew() bool {
	if t.told != unasked {
		return t.told == few
	}
	t.told = none
	n, odd, common := len(t.of), 0, 0
	if t.many || n < leastTexts {
		return false
	}
	for k := range t.all {
		if t.isRare(k) {
			odd += t.all[k].n
		}
	}
	usual := n - odd
	for k := range t.all {
		w := &t.all[k]
		if t.isRare(k) {
			continue
		}
		if common++; k != long && w.n < usual && !w.isFirm() { // what all others say need not say much
			return false
		}
		for i := range w.places {
			odd += w.places[i].findRare(w.n)
		}
		odd += w.findOddNumbers()
	}
	if t.odd = odd; common <= mostCommon && oddShare*odd <= n {
		t.told = few
	}
	return t.told == few
}

// findOddNumbers finds out which numbers are odd, and returns how many. Where many are, none is.
func (w *wording) findOddNumbers() (odd int) {
	const most = 20 // one of so many
	for i := range w.scales {
		odd += w.scales[i].findOdd()
	}
	if odd == 0 || odd > max(2, w.n/most) {
		w.scales, odd = nil, 0 // there is nothing to look for
	}
	return odd
}

// HaveOdd reports whether some of the texts are odd.
func (t *Texts) HaveOdd() bool { return t.AreFew() && t.odd > 0 }

// Odd returns how many texts say what the i-th does, which is this one, if that is odd; otherwise 0.
func (t *Texts) Odd(i int, text []byte) int {
	if !t.AreFew() {
		return 0
	}
	w := &t.all[t.of[i]]
	if t.isRare(int(t.of[i])) {
		return w.n
	}
	words, least := t.oddWord(w, text), t.oddNumber(w, i, text)
	if words > 0 && (least == 0 || words < least) {
		return words
	}
	return least
}

// oddWord returns how often the rarest word of a text came in its place, if it is odd; otherwise 0.
func (t *Texts) oddWord(w *wording, text []byte) (least int) {
	words, ok := []uint64(nil), false
	for k := range w.places {
		p := &w.places[k]
		if !p.rare {
			continue
		}
		if words == nil {
			if words, ok = read(text, t.room[:0]); !ok || len(words) != len(w.places) {
				return 0
			}
		}
		if n := p.rarity(words[k], w.n); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// oddNumber returns how often the rarest number of the i-th text came in its place, if it is odd; otherwise 0.
func (t *Texts) oddNumber(w *wording, i int, text []byte) (least int) {
	if len(w.scales) == 0 {
		return 0
	}
	list := numbersOf(text, t.nums[:0])
	if len(list) != len(w.scales) {
		return 0
	}
	for k := range w.scales {
		if n := w.scales[k].oddity(list[k], i); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// Len returns how many texts were taken in, as long as they do not have too many wordings.
func (t *Texts) Len() int { return len(t.of) }

// Of names the wording of the i-th text; ok is false if there is nothing to tell of it.
func (t *Texts) Of(i int) (k int, ok bool) { return int(t.of[i]), t.AreFew() && t.of[i] != long }

// Common returns the wordings of many texts, in the order in which they came; none if there is nothing to tell. others
// is how many texts have another one.
func (t *Texts) Common() (list []Wording, others int) {
	if !t.AreFew() {
		return nil, 0
	}
	for k := range t.all {
		switch w := &t.all[k]; {
		case k == long, t.isRare(k):
			others += w.n
		default:
			list = append(list, Wording{w.first, w.n, w.isTold()})
		}
	}
	return list, others
}
