// Package weather is what sessions of all dialects have in common: what a tool answers, and how scenarios are played.
package weather

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Line is what a scenario found out.
type Line = map[string]any

// Scenario is one that is played.
type Scenario struct {
	Name string
	Run  func() (Line, error)
}

// Play runs scenarios in order, and prints one line of JSON for each. The first that fails ends the program.
func Play(scenarios []Scenario) {
	for _, s := range scenarios {
		said, err := s.Run()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
			os.Exit(1)
		}
		said["ok"] = s.Name
		text, _ := json.Marshal(said)
		fmt.Println(string(text))
	}
}

// Page is what the tool says of a city: some 80 bytes for each hour.
func Page(city string, hours int) string {
	skies := [...]string{"clear", "cloudy", "overcast", "foggy", "stormy"}
	var text strings.Builder
	fmt.Fprintf(&text, "The weather of %s, hour by hour\n", city)
	for hour := range hours {
		fmt.Fprintf(&text, "hour %d: the sky over %s is %s, with a steady wind from the northern hills\n",
			hour, city, skies[hour*hour%5])
	}
	return text.String()
}
