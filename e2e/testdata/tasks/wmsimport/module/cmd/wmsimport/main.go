// Command wmsimport reads exports of the old warehouse system and prints what lies in each aisle: wmsimport FILE...
package main

import (
	"fmt"
	"os"

	"wmsimport/article"
	"wmsimport/legacy"
	"wmsimport/stock"
)

func main() {
	var all []article.Article
	for _, path := range os.Args[1:] {
		articles, err := read(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "wmsimport:", path, err)
			os.Exit(1)
		}
		all = append(all, articles...)
	}
	if err := stock.Write(os.Stdout, stock.Aisles(all)); err != nil {
		os.Exit(1)
	}
}

func read(path string) ([]article.Article, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	articles, skipped, bad, err := legacy.Import(file)
	if err != nil {
		return nil, err
	}
	for n, err := range bad {
		if n == 10 {
			break
		}
		fmt.Fprintln(os.Stderr, path, err)
	}
	fmt.Fprintf(os.Stderr, "%s: %d articles, %d not taken over, %d bad\n", path, len(articles), skipped, len(bad))
	return articles, nil
}
