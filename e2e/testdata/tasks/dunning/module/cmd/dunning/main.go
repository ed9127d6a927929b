// Command dunning prints what customers owe: dunning -today 2026-04-01 export.jsonl
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"dunning/calendar"
	"dunning/invoice"
	"dunning/report"
)

func main() {
	today := flag.String("today", time.Now().Format(time.DateOnly), "the `day` for which to count")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *today); err != nil {
		fmt.Fprintln(os.Stderr, "dunning:", err)
		os.Exit(1)
	}
}

func run(path, today string) error {
	day, err := calendar.Parse(today)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	all, err := invoice.Read(file)
	if err != nil {
		return err
	}
	return report.Write(os.Stdout, report.Rows(all, day))
}
