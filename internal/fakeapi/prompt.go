package fakeapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// request is one that was read and broke no rule.
type request struct {
	body      gjson.Result
	header    http.Header
	scope     string // the credentials, which share a cache
	name      string // of the model
	model     Model
	stream    bool
	counting  bool
	maxOutput int
	thinks    bool // the model thinks before it answers
	prompt    []piece

	// Messages
	messages  []message
	manual    bool // thinking has a budget
	hidden    bool // the text of thinking is not shown
	dropsLost bool // thinking that is bound to something else is dropped, not refused
	bond      bond // what is thought next is bound to this

	// Responses
	items     []item // with what came before, where the provider has it
	stored    bool
	compacts  bool // the answer is to be a compaction
	compactAt int  // tokens of the input above which the answer begins with one; 0 for none
}

// piece is a part of the prompt that the cache ends at or not.
type piece struct {
	value  string // the same for equal values
	tokens int
	marked bool // it has cache_control
}

func (q *request) tokens() (sum int) {
	for _, p := range q.prompt {
		sum += p.tokens
	}
	return sum
}

const (
	lookback  = 20   // pieces before a marker among which Messages looks for a cached prefix, with its own
	leastAuto = 1024 // tokens of the shortest prefix that Responses caches
	cacheStep = 128  // tokens: Responses reads a multiple of it
)

// account returns what the cache has of a prompt, and adds it. Messages caches what ends at a marker, Responses all.
// What is not used for five minutes is dropped, or for an hour if a marker says so: then all markers of a request have
// to.
func (p *Provider) account(q *request) Usage {
	u, now, life := Usage{Input: q.tokens()}, time.Now(), 5*time.Minute
	if strings.Contains(q.body.Raw, `"ttl":"1h"`) {
		life = time.Hour
	}
	if q.body.Get("prompt_cache_retention").Str == "24h" {
		life = 24 * time.Hour
	}
	names, sums := make([]string, len(q.prompt)), make([]int, len(q.prompt))
	name, sum := q.name+" "+q.scope+" "+q.body.Get("prompt_cache_key").Str, 0
	for i, piece := range q.prompt {
		name, sum = digest(name, piece.value), sum+piece.tokens
		names[i], sums[i] = name, sum
	}
	if q.messages == nil {
		for i, name := range names {
			if now.Before(p.cached[name]) && sums[i] >= leastAuto {
				u.Read = sums[i] / cacheStep * cacheStep
			}
			p.cached[name] = now.Add(life)
		}
		return u
	}
	for i, piece := range q.prompt {
		for k := i; piece.marked && k >= 0 && k > i-lookback; k-- {
			if now.Before(p.cached[names[k]]) {
				u.Read = max(u.Read, sums[k])
				p.cached[names[k]] = now.Add(life)
			}
		}
	}
	for i, piece := range q.prompt {
		if piece.marked && sums[i] >= q.model.Minimum {
			u.Written = max(u.Written, sums[i]-u.Read)
			p.cached[names[i]] = now.Add(life)
		}
	}
	if life == time.Hour {
		u.Hour = u.Written
	}
	return u
}

// digest names a text behind what came before it.
func digest(before, text string) string {
	sum := sha256.Sum256([]byte(before + "\n" + text))
	return hex.EncodeToString(sum[:12])
}

// normal writes a JSON value in one way: keys sorted, no spaces, without nulls, cache markers and the members named.
func normal(raw string, without ...string) string {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return raw
	}
	return string(encode(bare(v, append(without, "cache_control"))))
}

func bare(v any, without []string) any {
	switch v := v.(type) {
	case object:
		for name, child := range v {
			if child == nil || slices.Contains(without, name) {
				delete(v, name)
			} else {
				v[name] = bare(child, without)
			}
		}
	case []any:
		for i := range v {
			v[i] = bare(v[i], without)
		}
	}
	return v
}

// checkNames compares the members of an object with a list of names, in which "!" marks the required ones and "*"
// allows all. It returns a required one that is missing, or one that is not allowed.
func checkNames(o gjson.Result, names string) (missing, extra string) {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		plain, required := strings.CutSuffix(name, "!")
		if allowed[plain] = true; required && missing == "" && !o.Get(plain).Exists() {
			missing = plain
		}
	}
	o.ForEach(func(name, _ gjson.Result) bool {
		if !allowed[name.Str] && !allowed["*"] {
			extra = name.Str
		}
		return extra == ""
	})
	return missing, extra
}

// isNull reports whether there is no value, or null.
func isNull(v gjson.Result) bool { return v.Type == gjson.Null }
