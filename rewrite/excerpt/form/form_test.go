package form

import (
	"testing"

	"epitome/rewrite/excerpt/glance"
	"epitome/rewrite/excerpt/stamp"
)

func TestEachRowIsFoundByItsSample(t *testing.T) {
	for _, table := range tables() {
		for i := range table {
			r := &table[i]
			body, _ := stamp.Strip(r.sample)
			g := glance.Of(body)
			switch found := All.Get().Find(body, &g); {
			case found == nil:
				t.Errorf("%s: no row has the form of %q", r.Tool, r.sample)
			case found.Kind != r.Kind || r.Says != Silent && found.Says != r.Says && !found.Tally:
				t.Errorf("%s: %q is found by a row of %s, as kind %d and verdict %d", r.Tool, r.sample, found.Tool, found.Kind, found.Says)
			}
		}
	}
}
