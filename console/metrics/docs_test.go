package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// described are the names of labels of each metric that there is.
func described(t *testing.T) map[string][]string {
	t.Helper()
	descriptions := make(chan *prometheus.Desc)
	go func() {
		watching().registry.Describe(descriptions)
		close(descriptions)
	}()
	pattern := regexp.MustCompile(`^Desc\{fqName: "([^"]+)", .*constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)
	all := map[string][]string{}
	for d := range descriptions {
		m := pattern.FindStringSubmatch(strings.ReplaceAll(d.String(), "\n", " "))
		if m == nil {
			t.Fatalf("cannot read %s", d)
		}
		all[m[1]] = []string{}
		for label := range strings.SplitSeq(m[2]+","+m[3], ",") {
			if name, _, _ := strings.Cut(label, "="); name != "" {
				all[m[1]] = append(all[m[1]], name)
			}
		}
		slices.Sort(all[m[1]])
	}
	if len(all) < 40 {
		t.Fatalf("there are only %d metrics: %v", len(all), all)
	}
	return all
}

// document is a file in the folder of documents.
func document(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "docs"}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryMetricIsDocumentedWithItsLabels(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| `(epitome_[a-z_]+)` \\|([^|]*)\\| .+ \\|$")
	documented := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(document(t, "metrics.md"), -1) {
		labels := []string{}
		for label := range strings.SplitSeq(m[2], ",") {
			if label = strings.Trim(label, " `"); label != "" {
				labels = append(labels, label)
			}
		}
		slices.Sort(labels)
		documented[m[1]] = labels
	}
	for name, labels := range described(t) {
		if !strings.HasPrefix(name, "epitome_") {
			continue
		}
		if got, ok := documented[name]; !ok || !slices.Equal(got, labels) {
			t.Errorf("docs/metrics.md says of %s that its labels are %q (found: %v), they are %q", name, got, ok, labels)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("docs/metrics.md has %s, which there is none of", name)
	}
}
