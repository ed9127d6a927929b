// Command settle charges the orders of a file, which has lines of a reference and cents: settle -gateway URL FILE
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"paygate/charge"
	"paygate/clock"
	"paygate/gateway"
	"paygate/journal"
)

func main() {
	url := flag.String("gateway", "", "the base `URL` of the gateway")
	speed := flag.Int("speed", 1, "how many times as fast as time the clock runs, for drills")
	flag.Parse()
	if flag.NArg() != 1 || *url == "" {
		flag.Usage()
		os.Exit(2)
	}
	orders, err := read(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "settle:", err)
		os.Exit(1)
	}
	service := charge.Service{
		Gateway: gateway.Client{URL: *url, HTTP: &http.Client{Timeout: 20 * time.Second}},
		Clock:   clock.Real{Speed: *speed},
		Journal: journal.New(os.Stdout),
	}
	var work sync.WaitGroup
	for _, order := range orders {
		work.Go(func() {
			if _, err := service.Run(context.Background(), order); err != nil {
				fmt.Fprintln(os.Stderr, order.Ref, err)
			}
		})
	}
	work.Wait()
}

func read(path string) ([]charge.Order, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var orders []charge.Order
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var order charge.Order
		if _, err := fmt.Sscan(lines.Text(), &order.Ref, &order.Cents); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		orders = append(orders, order)
	}
	return orders, lines.Err()
}
