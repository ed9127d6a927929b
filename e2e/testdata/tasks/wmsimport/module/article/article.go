// Package article has articles as the new warehouse system wants them.
package article

import (
	"errors"
	"fmt"
	"time"
)

// Article is an article in one place of the warehouse.
type Article struct {
	Number   string // such as 410-00317
	Name     string
	Place    Place
	Milli    int64 // the quantity in thousandths of Unit
	Unit     string
	Price    int64     // of one Unit, in hundredths of a cent
	Counted  time.Time // the day of the last count
	Reserved bool
}

// Place is where an article lies.
type Place struct {
	Hall  string // A or B
	Aisle int    // from 1 on, in its hall
	Shelf int
}

func (p Place) String() string {
	return fmt.Sprintf("%s-%02d-%02d", p.Hall, p.Aisle, p.Shelf)
}

// Group returns the first digit of an article's number, which is its group.
func (a Article) Group() byte {
	if a.Number == "" {
		return 0
	}
	return a.Number[0]
}

// Check returns an error if the new system would refuse the article.
func (a Article) Check() error {
	switch {
	case len(a.Number) != 9 || a.Number[3] != '-':
		return fmt.Errorf("article: number %q", a.Number)
	case a.Name == "":
		return errors.New("article: no name")
	case a.Place.Hall != "A" && a.Place.Hall != "B":
		return fmt.Errorf("article: hall %q", a.Place.Hall)
	case a.Place.Aisle < 1 || a.Place.Shelf < 1:
		return fmt.Errorf("article: place %v", a.Place)
	case a.Milli < 0 || a.Price < 0:
		return errors.New("article: less than nothing")
	}
	return nil
}
