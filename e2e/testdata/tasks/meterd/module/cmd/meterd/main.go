// Command meterd prints the readings of a capture, which has lines of a time and bytes: meterd FILE
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"

	"meterd/frame"
	"meterd/record"
	"meterd/table"
)

func main() {
	counts := flag.Bool("unknown", false, "print only how often unknown codes came")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *counts); err != nil {
		fmt.Fprintln(os.Stderr, "meterd:", err)
		os.Exit(1)
	}
}

func run(path string, counts bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var stream []byte
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		_, digits, _ := strings.Cut(lines.Text(), " | ")
		text, err := frame.Hex(digits)
		if err != nil {
			return err
		}
		stream = append(stream, text...)
	}
	frames, lost, rest := frame.Split(stream)
	var readings []record.Reading
	var unknown []byte
	bad := 0
	for _, f := range frames {
		if f.Kind != frame.Readings {
			continue
		}
		read, codes, err := record.Decode(f)
		if err != nil {
			bad++
		}
		readings = append(readings, read...)
		unknown = append(unknown, codes...)
	}
	if !counts {
		return table.Write(os.Stdout, readings)
	}
	fmt.Printf("%d frames, %d bad, %d bytes lost, %d left, %d readings\n", len(frames), bad, lost, len(rest), len(readings))
	for _, c := range table.Counts(unknown) {
		fmt.Printf("code %#02x: %d times\n", c.Code, c.Times)
	}
	return nil
}
