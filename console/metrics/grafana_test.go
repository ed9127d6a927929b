package metrics

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vocabulary has what an expression may name besides labels, for which a scrape adds job and instance.
type vocabulary map[string][]string

// wordsOf are all metrics as they are scraped, with their labels.
func wordsOf(t *testing.T) vocabulary {
	t.Helper()
	all := vocabulary{"up": {"job", "instance"}}
	histograms := map[string]bool{}
	for series := range samples(t, full()) {
		if name, isBucket := strings.CutSuffix(series[:strings.IndexAny(series+"{", "{")], "_bucket"); isBucket {
			histograms[name] = true
		}
	}
	for name, labels := range described(t) {
		labels = append(slices.Clone(labels), "job", "instance")
		if !histograms[name] {
			all[name] = labels
			continue
		}
		all[name+"_sum"], all[name+"_count"] = labels, labels
		all[name+"_bucket"] = append(slices.Clone(labels), "le")
	}
	return all
}

// full has counted something of everything.
func full() *Recorder {
	m := watching()
	m.RecordExchange(paid())
	return m
}

var (
	selector = regexp.MustCompile(`([a-z_][a-z0-9_]*)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`^\s*([a-z_]+)\s*(?:=~|!~|!=|=)\s*"[^"]*"\s*$`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	word     = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*`)
	ranged   = regexp.MustCompile(`\b(rate|increase)\(([a-z_]+)`)
	offset   = regexp.MustCompile(` offset \d+[mh]\b`)
	interval = regexp.MustCompile(`\[(?:\$__rate_interval|\$__range|\d+[mh])\]`)
)

// language is what of PromQL may be used.
const language = "sum count max by rate increase histogram_quantile or unless"

// check says what is wrong with an expression: a metric or a label that there is none of, or something that is no rate.
func (v vocabulary) check(expr string) (complaints []string) {
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	if strings.Count(expr, "(") != strings.Count(expr, ")") {
		complain("its parentheses do not match")
	}
	labels := map[string]bool{}
	rest := selector.ReplaceAllStringFunc(expr, func(s string) string {
		m := selector.FindStringSubmatch(s)
		for part := range strings.SplitSeq(m[2], ",") {
			label := matcher.FindStringSubmatch(part)
			if label == nil || !slices.Contains(v[m[1]], label[1]) {
				complain("%s has no label as in %q", m[1], part)
			}
		}
		return m[1]
	})
	rest = offset.ReplaceAllString(interval.ReplaceAllString(rest, ""), "")
	bare := grouping.ReplaceAllString(rest, "")
	for _, name := range word.FindAllString(bare, -1) {
		of, known := v[name]
		for _, label := range of {
			labels[label] = true
		}
		if !known && !slices.Contains(strings.Fields(language), name) {
			complain("there is no metric %s", name)
		}
	}
	for _, m := range grouping.FindAllStringSubmatch(rest, -1) {
		for _, label := range word.FindAllString(m[1], -1) {
			if !labels[label] {
				complain("none of its metrics has a label %s", label)
			}
		}
	}
	for _, m := range ranged.FindAllStringSubmatch(rest, -1) {
		if name := m[2]; !strings.HasSuffix(name, "_total") && !strings.HasSuffix(name, "_bucket") {
			complain("%s of %s, which is no counter", m[1], name)
		}
	}
	return complaints
}

func TestExpressionsAreRead(t *testing.T) {
	v := wordsOf(t)
	f := func(expr string, want ...string) {
		t.Helper()
		if got := v.check(expr); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
	f(`sum by (part) (rate(epitome_sent_tokens_total{job=~"$job", upstream="a"}[$__rate_interval]))`)
	f(`histogram_quantile(0.5, sum by (le) (rate(epitome_shape_seconds_bucket[5m])))`)
	f(`up{job="epitome"} == 0`)
	f(`sum(epitome_sent_total)`, "there is no metric epitome_sent_total")
	f(`sum(epitome_shape_seconds)`, "there is no metric epitome_shape_seconds")
	f(`sum(epitome_live_conversations{upstream="a"})`, `epitome_live_conversations has no label as in "upstream=\"a\""`)
	f(`sum by (part) (epitome_live_conversations)`, "none of its metrics has a label part")
	f(`sum(rate(epitome_saved_dollars[5m]))`, "rate of epitome_saved_dollars, which is no counter")
	f(`summ(epitome_live_conversations`, "its parentheses do not match", "there is no metric summ")
}

// dashboard is as much of Grafana's format as there are rules for.
type dashboard struct {
	ID         *int   `json:"id"`
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name, Type, Definition string
			Query                  any
			Multi, IncludeAll      bool
			Datasource             source
		}
	}
	Panels []panel
}

type source struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               source
	FieldConfig              struct{ Defaults struct{ Unit string } }
	GridPos                  struct{ H, W, X, Y int }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                source
	}
}

// chosen is the source that is chosen in the dashboard.
func chosen() source { return source{"prometheus", "${datasource}"} }

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text := document(t, "grafana", "dashboard.json")
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, `"id": null`) || d.UID == "" || d.Title == "" {
		t.Errorf("the dashboard is of one Grafana: id %v, uid %q, title %q", d.ID, d.UID, d.Title)
	}
	return d
}

func TestDashboardCanBeImportedAnywhere(t *testing.T) {
	d := readDashboard(t)
	variables := map[string]bool{}
	for _, v := range d.Templating.List {
		variables[v.Name] = true
		switch {
		case v.Name == "datasource":
			if v.Type != "datasource" || v.Query != "prometheus" {
				t.Errorf("variable datasource is a %s of %v", v.Type, v.Query)
			}
		case v.Type != "query" || !v.Multi || !v.IncludeAll || v.Datasource != chosen():
			t.Errorf("variable %s: %+v", v.Name, v)
		}
	}
	if got := slices.Sorted(maps.Keys(variables)); !slices.Equal(got, []string{"datasource", "instance", "job", "upstream"}) {
		t.Errorf("the variables are %q", got)
	}
	ids, places := map[int]bool{}, map[string]string{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("panel %s has the id of another one", p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				at := fmt.Sprint(x, " ", y)
				if other := places[at]; other != "" || x >= 24 {
					t.Fatalf("panel %s lies on %q, or outside", p.Title, other)
				}
				places[at] = p.Title
			}
		}
		checkPanel(t, p)
	}
}

// checkPanel wants what a reader needs, and nothing that is of one Grafana.
func checkPanel(t *testing.T, p panel) {
	t.Helper()
	if p.Type == "row" {
		return
	}
	if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
		t.Errorf("panel %q lacks a title, a description, a unit or a query", p.Title)
	}
	if p.Datasource != chosen() {
		t.Errorf("panel %q asks %v", p.Title, p.Datasource)
	}
	for _, q := range p.Targets {
		if q.Datasource != chosen() || q.RefID == "" {
			t.Errorf("panel %q: %+v", p.Title, q)
		}
	}
}

func TestDashboardAsksForMetricsThatThereAre(t *testing.T) {
	v := wordsOf(t)
	d := readDashboard(t)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			for _, complaint := range v.check(q.Expr) {
				t.Errorf("panel %q, %s: %s", p.Title, q.Expr, complaint)
			}
			for _, of := range [...]string{`job=~"$job"`, `instance=~"$instance"`} {
				if strings.Count(q.Expr, "{") != strings.Count(q.Expr, of) {
					t.Errorf("panel %q does not heed %s: %s", p.Title, of, q.Expr)
				}
			}
			if strings.Contains(q.Expr, "rate(") && !strings.Contains(q.Expr, "[$__rate_interval]") {
				t.Errorf("panel %q has an interval of its own: %s", p.Title, q.Expr)
			}
			for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(q.LegendFormat, -1) {
				isGrouped := regexp.MustCompile(`by \([^)]*\b` + m[1] + `\b`).MatchString(q.Expr)
				if !isGrouped && (strings.Contains(q.Expr, "sum") || m[1] != "instance") {
					t.Errorf("panel %q names series by %s, which %s does not have", p.Title, m[1], q.Expr)
				}
			}
		}
	}
	for _, variable := range d.Templating.List {
		if m := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(variable.Definition); m != nil {
			for _, complaint := range v.check("sum by (" + m[2] + ") (" + m[1] + ")") {
				t.Errorf("variable %s: %s", variable.Name, complaint)
			}
		} else if variable.Type == "query" {
			t.Errorf("variable %s is %q", variable.Name, variable.Definition)
		}
	}
}

// A counter with labels begins with the first thing that it counts, which increase does not see: a rule that is to tell
// of a single one has to ask for those that are new, too.
func TestAlertsTellOfTheFirstOne(t *testing.T) {
	for _, text := range strings.Split(document(t, "grafana", "alerts.yml"), "      - alert: ")[1:] {
		name, _, _ := strings.Cut(text, "\n")
		single := regexp.MustCompile(`increase\((\w+(?:\{[^}]*\})?)\[(\d+[mh])\]\)\) > 0\n`).FindStringSubmatch(text)
		if single == nil || strings.Contains(text, "severity: info") || strings.Contains(single[1], "shared_store") {
			continue // those without labels are there from the start on
		}
		if want := single[1] + " unless " + single[1] + " offset " + single[2]; !strings.Contains(text, want) {
			t.Errorf("%s does not ask for %s", name, want)
		}
	}
}

func TestAlertsAskForMetricsThatThereAre(t *testing.T) {
	v := wordsOf(t)
	rules := strings.Split(document(t, "grafana", "alerts.yml"), "      - alert: ")[1:]
	if len(rules) < 10 {
		t.Fatalf("there are only %d rules", len(rules))
	}
	rule := regexp.MustCompile(`(?s)^(Epitome\w+)\n        expr: (?:>-\n)?(.*?)\n        (?:for: \d+[mh]\n        )?` +
		`labels: \{ severity: (?:critical|warning|info) \}\n        annotations:\n          summary: "(.+)"\n` +
		`          description: ".+"\n$`)
	for _, text := range rules {
		m := rule.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("a rule lacks an expression, a severity, a summary or a description: %s", text)
			continue
		}
		for _, complaint := range v.check(strings.Join(strings.Fields(m[2]), " ")) {
			t.Errorf("%s: %s", m[1], complaint)
		}
		for _, used := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(m[3], -1) {
			if strings.Contains(m[2], "by (") && !regexp.MustCompile(`by \([^)]*\b`+used[1]+`\b`).MatchString(m[2]) {
				t.Errorf("%s tells of %s, which its series do not have", m[1], used[1])
			}
		}
	}
}
