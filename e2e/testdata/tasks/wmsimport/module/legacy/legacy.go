// Package legacy turns rows of the old warehouse system's export into articles.
package legacy

import (
	"errors"
	"fmt"
	"io"

	"wmsimport/article"
	"wmsimport/csvx"
)

// ErrSkip is returned for a row that is not taken over.
var ErrSkip = errors.New("legacy: not taken over")

// Import returns the articles of an export, how many rows were not taken over, and the errors of rows that could not
// be read. Such a row does not end the import.
func Import(r io.Reader) (articles []article.Article, skipped int, bad []error, err error) {
	n := 1
	err = csvx.Read(r, func(row csvx.Row) error {
		n++
		a, err := Row(row)
		switch {
		case errors.Is(err, ErrSkip):
			skipped++
		case err != nil:
			bad = append(bad, fmt.Errorf("row %d: %w", n, err))
		default:
			articles = append(articles, a)
		}
		return nil
	})
	return articles, skipped, bad, err
}

// Row returns the article of a row, ErrSkip, or what is wrong with it. The columns are ARTNO, NAME, LOC (four digits),
// QTY, UOM, PRICE, CNT (the day of the last count), ST (a letter) and FL (letters).
func Row(row csvx.Row) (article.Article, error) {
	number, err := number(row["ARTNO"])
	if err != nil {
		return article.Article{}, err
	}
	a := article.Article{Number: number, Name: row["NAME"], Unit: row["UOM"]}
	return a, errors.New("legacy: not done yet")
}

// number returns the number of an article in the form of the new system. The export has 410317 for 410-00317.
func number(text string) (string, error) {
	if len(text) < 4 || len(text) > 8 {
		return "", fmt.Errorf("legacy: article number %q", text)
	}
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return "", fmt.Errorf("legacy: article number %q", text)
		}
	}
	return fmt.Sprintf("%s-%05s", text[:3], text[3:]), nil
}
