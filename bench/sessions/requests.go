package sessions

import (
	"fmt"

	"github.com/tidwall/gjson"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
)

// readRequests reads Chat Completions requests. It leaves out those that another one extends. problems names those that
// cannot be read.
func readRequests(documents []gjson.Result) (bodies [][]byte, problems []string) {
	extended := make(map[conversation.Link]bool) // the proper prefixes of all requests
	var requests []*conversation.Request
	for i, d := range documents {
		r, err := chat.Dialect{}.Read([]byte(d.Raw), nil)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("request %d: %v", i+1, err))
			continue
		case len(r.Items) == 0:
			problems = append(problems, fmt.Sprintf("request %d has no messages", i+1))
			continue
		}
		requests = append(requests, r)
		for _, link := range r.Chain()[:len(r.Items)] {
			extended[link] = true
		}
	}
	for _, r := range requests {
		whole := r.Chain()[len(r.Items)]
		if !extended[whole] {
			extended[whole] = true // leaves out the next one that is equal
			bodies = append(bodies, r.Body)
		}
	}
	return bodies, problems
}
