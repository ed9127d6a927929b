package excerpt

import "testing"

func TestEachRowIsFoundByItsSample(t *testing.T) {
	j := newJudge()
	for _, table := range tables() {
		for i := range table {
			r := &table[i]
			l := j.look(r.sample, 0, len(r.sample))
			if l.row == nil {
				t.Errorf("%s: no row has the form of %q", r.tool, r.sample)
				continue
			}
			if l.kind != r.kind || r.says != Unknown && l.says != r.says {
				t.Errorf("%s: %q is found by a row of %s, as kind %d and outcome %d", r.tool, r.sample, l.row.tool, l.kind, l.says)
			}
		}
	}
}
