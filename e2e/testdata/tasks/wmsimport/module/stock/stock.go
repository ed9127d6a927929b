// Package stock sums up articles for the people who count.
package stock

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"wmsimport/article"
)

// Aisle is what lies in an aisle.
type Aisle struct {
	Hall     string
	Aisle    int
	Articles int
	Value    int64 // in cents
}

// Aisles sums up articles by aisle, in the order of halls and aisles.
func Aisles(articles []article.Article) []Aisle {
	type key struct {
		hall  string
		aisle int
	}
	sums := map[key]*Aisle{}
	for _, a := range articles {
		k := key{a.Place.Hall, a.Place.Aisle}
		if sums[k] == nil {
			sums[k] = &Aisle{Hall: k.hall, Aisle: k.aisle}
		}
		sums[k].Articles++
		sums[k].Value += Value(a)
	}
	var aisles []Aisle
	for _, sum := range sums {
		aisles = append(aisles, *sum)
	}
	slices.SortFunc(aisles, func(a, b Aisle) int {
		return cmp.Or(cmp.Compare(a.Hall, b.Hall), cmp.Compare(a.Aisle, b.Aisle))
	})
	return aisles
}

// Value returns what an article is worth, in cents.
func Value(a article.Article) int64 {
	return (a.Milli*a.Price + 50_000) / 100_000
}

// Write prints aisles as a table.
func Write(w io.Writer, aisles []Aisle) error {
	for _, a := range aisles {
		if _, err := fmt.Fprintf(w, "%s %3d %6d %12d.%02d\n", a.Hall, a.Aisle, a.Articles, a.Value/100, a.Value%100); err != nil {
			return err
		}
	}
	return nil
}
