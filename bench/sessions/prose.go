package sessions

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// What is written for people: sentences, pages of the web, what a browser shows, and what a shop knows of an order.

var (
	things = [...]string{"battery", "bridge", "canal", "carbon market", "census", "cooling loop", "dam", "enzyme",
		"ferry", "glacier", "grid", "harbour", "heat pump",
		"isotope", "kiln", "lathe", "meadow", "mill", "orchard", "pension fund", "pipeline", "quarry", "railway",
		"reef", "reservoir", "sensor", "tariff", "turbine", "vaccine", "weir"}
	traits = [...]string{"ageing", "annual", "coastal", "dense", "early", "federal", "fragile", "idle", "local",
		"measured", "municipal", "narrow", "northern", "older",
		"partial", "quiet", "regional", "seasonal", "steady", "surplus", "thermal", "unlikely", "urban", "western"}
	deeds = [...]string{"outlasted", "replaced", "delayed", "reduced", "doubled", "undercut", "surveyed", "financed",
		"reopened", "measured", "displaced", "cooled",
		"audited", "connected", "flooded", "restored", "shortened", "insured"}
	joins = [...]string{"because", "although", "while", "after", "unless", "before", "so that", "whereas"}
	names = [...]string{"Aldermoor", "Brannick", "Corvell", "Dunmere", "Eskdale", "Farrow", "Gallow Hill", "Hexley",
		"Inverlea", "Jorvik", "Kestrel Bay", "Lowther",
		"Marrick", "Northolme", "Oakhaven", "Pellworth", "Quarrendon", "Ravensby", "Selwick", "Tarnside", "Ulverton",
		"Wexcombe"}
	wares = [...]string{"Trail Lamp", "Field Kettle", "Wool Throw", "Desk Riser", "Rain Shell", "Travel Mug",
		"Seed Tray", "Bike Pump", "Camp Stool", "Reading Light"}
)

// Topic returns what a page may be about.
func Topic(d *rand.Rand) string {
	return fmt.Sprintf("%s %s of %s", Pick(d, traits[:]), Pick(d, things[:]), Pick(d, names[:]))
}

// Sentence returns a sentence, with a number now and then.
func Sentence(d *rand.Rand) string {
	s := fmt.Sprintf("The %s %s %s the %s %s", Pick(d, traits[:]), Pick(d, things[:]), Pick(d, deeds[:]),
		Pick(d, traits[:]), Pick(d, things[:]))
	switch d.IntN(4) {
	case 0:
		s += fmt.Sprintf(" by %d.%d %% in %d", d.IntN(60), d.IntN(10), 1950+d.IntN(76))
	case 1:
		s += fmt.Sprintf(" %s the %s in %s %s it",
			Pick(d, joins[:]), Pick(d, things[:]), Pick(d, names[:]), Pick(d, deeds[:]))
	case 2:
		s += fmt.Sprintf(", and %d of %d households near %s noticed", d.IntN(900), 900+d.IntN(9000), Pick(d, names[:]))
	}
	return s + "."
}

// Paragraph returns a text of n sentences.
func Paragraph(d *rand.Rand, sentences int) string {
	all := make([]string, sentences)
	for i := range all {
		all[i] = Sentence(d)
	}
	return strings.Join(all, " ")
}

// Page returns a page of the web as text, with what stands around its content on every page of the site.
func Page(d *rand.Rand, site, topic string, sections int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s | %s\n\n", topic, site)
	for _, entry := range [...]string{"Home", "News", "Reports", "Figures", "Archive", "Contact", "Sign in"} {
		fmt.Fprintf(&b, "* [%s](https://%s/%s)\n", entry, site, strings.ToLower(strings.ReplaceAll(entry, " ", "-")))
	}
	fmt.Fprintf(&b, "\n# %s\n\nBy %s, report no. R-%05d\n\n", topic, Pick(d, names[:]), d.IntN(100_000))
	for i := range sections {
		fmt.Fprintf(&b, "## %d. %s\n\n%s\n\n%s\n\n",
			i+1, Topic(d), Paragraph(d, 4+d.IntN(8)), Paragraph(d, 3+d.IntN(5)))
		if i%3 == 1 {
			b.WriteString(table(d))
		}
	}
	fmt.Fprintf(&b, "---\n%s uses cookies. Terms of use. Privacy. Imprint. Subscribe to the letter of %s.\n",
		site, site)
	return b.String()
}

func table(d *rand.Rand) string {
	var b strings.Builder
	b.WriteString("| place | year | figure | change |\n|---|---|---|---|\n")
	for range 5 + d.IntN(12) {
		fmt.Fprintf(&b, "| %s | %d | %d.%d | %+d |\n",
			Pick(d, names[:]), 1990+d.IntN(36), d.IntN(5000), d.IntN(10), d.IntN(400)-200)
	}
	return b.String() + "\n"
}

// Screen returns what a browser shows, as a tree of what can be read and pressed, and the numbers of what can be
// pressed. The head is the same on every page of a site.
func Screen(d *rand.Rand, site, title string, rows int) (text string, numbers []int) {
	var b strings.Builder
	fmt.Fprintf(&b, "RootWebArea '%s', focused\n", title)
	for i, entry := range [...]string{"Dashboard", "Sales", "Catalog", "Customers", "Marketing", "Content", "Reports",
		"Stores", "System"} {
		fmt.Fprintf(&b, "\t[%d] link '%s', url=https://%s/admin/%s\n\t\t[%d] StaticText '%s'\n",
			100+2*i, entry, site, strings.ToLower(entry), 101+2*i, entry)
	}
	fmt.Fprintf(&b, "\t[140] main ''\n\t\t[141] heading '%s'\n\t\t[142] table ''\n", title)
	next := 1000 + d.IntN(400)
	for range rows {
		fmt.Fprintf(&b, "\t\t\t[%d] row 'ID %09d %s, %s %d.%02d'\n",
			next, d.IntN(1_000_000), Pick(d, wares[:]), Pick(d, names[:]), d.IntN(400), d.IntN(100))
		fmt.Fprintf(&b, "\t\t\t\t[%d] gridcell '%s'\n\t\t\t\t[%d] link 'View', "+
			"url=https://%s/admin/sales/order/view/%d\n", next+1, Sentence(d), next+2, site, d.IntN(100_000))
		numbers = append(numbers, next+2)
		next += 3 + d.IntN(5)
	}
	fmt.Fprintf(&b, "\t[%d] contentinfo ''\n\t\t[%d] StaticText 'Copyright %s. All rights reserved.'\n",
		next, next+1, site)
	return b.String(), numbers
}

// Order returns what a shop knows of an order, as JSON over many lines.
func Order(d *rand.Rand, number string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"order\": %q,\n  \"customer\": {\"name\": \"%s %s\", \"id\": \"cus_%08x\", \"tier\": "+
		"%q},\n  \"items\": [\n", number, Pick(d, names[:]), Pick(d, nouns[:]),
		d.Uint32(), Pick(d, []string{"basic", "plus", "gold"}))
	items := 1 + d.IntN(6)
	for i := range items {
		comma := ","
		if i == items-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "    {\"sku\": \"sku_%06x\", \"name\": %q, \"quantity\": %d, \"price\": \"%d.%02d\", "+
			"\"shipped\": %v}%s\n", d.IntN(1<<24), Pick(d, wares[:]), 1+d.IntN(4),
			d.IntN(300), d.IntN(100), d.IntN(3) > 0, comma)
	}
	fmt.Fprintf(&b, "  ],\n  \"payment\": {\"method\": \"card\", \"reference\": \"pay_%010x\"},\n  \"events\": [\n",
		d.Uint64N(1<<40))
	for i := range 12 {
		fmt.Fprintf(&b, "    {\"at\": \"2026-02-%02dT%02d:%02d:00Z\", \"what\": %q, \"by\": \"worker-%d\"},\n",
			i+1, d.IntN(24), d.IntN(60), Pick(d, reasons[:]), d.IntN(40))
	}
	return b.String() + "    {\"at\": \"2026-02-28T00:00:00Z\", \"what\": \"archived\", \"by\": \"night\"}\n  ]\n}\n"
}

// Reason returns why something happens in the books of the make-believe service.
func Reason(d *rand.Rand) string { return Pick(d, reasons[:]) }
