package money

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// rows is the built-in table, which internal/tables writes.
//
//go:embed table/prices.txt
var rows string

// Table is what providers ask, by their models. It does not change.
type Table struct {
	Source string    // whose it is, and which
	Date   time.Time // of it
	Models int       // that have a price

	providers []provider
}

// provider sells models.
type provider struct {
	id     string
	hosts  []string // where; one with a dot in front stands for all below it
	named  names    // that only its models have
	others []string // whose models it sells besides
	models []model
}

// model has prices, of which the last one that holds is in force.
type model struct {
	names  names
	prices []timed
}

// timed is a price that holds at some time only.
type timed struct {
	from    time.Time // zero: always
	hours   [2]int    // minutes of each day in UTC, from and to; both 0: always
	isKnown bool
	price   Price
}

// Builtin returns the table of this build. The first call reads it, which takes a millisecond.
var Builtin = sync.OnceValue(func() *Table { return readTable(rows) })

// readTable reads what internal/tables has written.
func readTable(text string) *Table {
	t := &Table{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fields := strings.Fields(line)
		switch {
		case line == "":
		case fields[0] == "@":
			t.providers = append(t.providers, provider{
				id: fields[1], hosts: split(fields[2]), named: readNames(fields[3]), others: split(fields[4]),
			})
		case fields[0] == "#":
			t.readHead(fields)
		default:
			t.add(fields)
		}
	}
	return t
}

// readHead reads the first line: # Prices: SOURCE VERSION of DATE, …
func (t *Table) readHead(fields []string) {
	if fields[1] != "Prices:" {
		return
	}
	date, err := time.Parse(time.DateOnly, strings.TrimSuffix(fields[5], ","))
	if err != nil {
		panic(fmt.Errorf("BUG: the table of prices has no day: %w", err))
	}
	t.Source, t.Date = fields[2]+" "+fields[3], date
}

func split(list string) []string {
	if list == "-" {
		return nil
	}
	return strings.Split(list, ",")
}

// columns are the rates of a price in a line.
const columns = 5

// add reads a line: PROVIDER MODEL NAMES RATES [>SIZE RATES]… [from=DAY] [at=HH:MM-HH:MM]. Names that are + are those
// of the line before.
func (t *Table) add(fields []string) {
	p := t.provider(fields[0])
	x := timed{price: Price{ID: fields[0] + "/" + fields[1], Base: readRates(fields[3:])}}
	x.isKnown = x.price.Base.Input >= 0
	for rest := fields[3+columns:]; len(rest) > 0; {
		switch text := rest[0]; {
		case text[0] == '>':
			x.price.Tiers = append(x.price.Tiers, Tier{number(text[1:]), readRates(rest[1:])})
			rest = rest[1+columns:]
		case strings.HasPrefix(text, "from="):
			x.from = day(text[len("from="):])
			rest = rest[1:]
		default:
			from, to, _ := strings.Cut(strings.TrimPrefix(text, "at="), "-")
			x.hours = [2]int{minute(from), minute(to)}
			rest = rest[1:]
		}
	}
	if fields[2] == "+" {
		last := &p.models[len(p.models)-1]
		last.prices = append(last.prices, x)
		return
	}
	if x.isKnown {
		t.Models++
	}
	p.models = append(p.models, model{readNames(fields[2]), []timed{x}})
}

func (t *Table) provider(id string) *provider {
	for i := range t.providers {
		if t.providers[i].id == id {
			return &t.providers[i]
		}
	}
	return nil
}

func readRates(f []string) Rates {
	return Rates{rate(f[0]), rate(f[1]), rate(f[2]), rate(f[3]), rate(f[4])}
}

// rate reads dollars with at most nine digits behind the point, exactly.
func rate(text string) int64 {
	if text == "-" {
		return Unknown
	}
	whole, part, _ := strings.Cut(text, ".")
	return int64(number(whole + (part + "000000000")[:9]))
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n > math.MaxInt64/million {
		panic("BUG: the table of prices has no number at " + text)
	}
	return n
}

func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(fmt.Errorf("BUG: the table of prices has no day: %w", err))
	}
	return d
}

func minute(text string) int { return 60*number(text[:2]) + number(text[3:]) }
