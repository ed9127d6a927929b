package rewrite_test

import (
	"bytes"
	"fmt"
	"testing"

	"epitome/rewrite"
)

// The text of a compaction that epitome has made takes the place of its item alone, and is always the same. A request
// that asks a provider for a compaction is as it was, unless the provider is known to make none.
func TestCompactionOfOwnChangesItsItemAlone(t *testing.T) {
	api, limits := keepAPIs["responses"], defaultLimits()
	storage := newStorage()
	p := start(storage)
	p.window.Store(128_000)
	shape := func(p process, body []byte, lacks bool) rewrite.Output {
		return p.Shape(rewrite.Input{Dialect: api.dialect, Body: body, Limits: &limits, Lacks: lacks})
	}
	asks := append(bytes.TrimSuffix(api.worked(), []byte(`]}`)), `,{"type":"compaction_trigger"}]}`...)
	if out := shape(p, asks, false); out.Carried != nil || !out.AsksNow || out.Changed {
		t.Errorf("to a provider that may make compactions: %v, %t", out.Carried, out.Changed)
	}
	out := shape(p, asks, true)
	if out.Carried == nil || out.Refused != nil {
		t.Fatalf("no compaction: %v, %v", out.Refused, out.Report.Err)
	}
	const before, behind = `{"store": false, "input": [{"role":"user","content":"Fix it."} , `, ` ,
		{"role":"user","content":"Go on."} ], "model":"m" }`
	item := fmt.Sprintf(`{"type":"compaction", "id":"cmp_1", "encrypted_content":%q}`, out.Carried.Sealed)
	var expanded []byte
	for n := range 3 {
		if n == 2 {
			p = start(storage)
		}
		out := shape(p, []byte(before+item+behind), n == 1)
		hasRest := bytes.HasPrefix(out.Body, []byte(before)) && bytes.HasSuffix(out.Body, []byte(behind))
		if !hasRest || !out.Changed || !bytes.Contains(out.Body, []byte("NEWEST: all 40 parts are checked.")) {
			t.Fatalf("sent as %.2000s", out.Body)
		}
		if n > 0 && !bytes.Equal(out.Body, expanded) {
			t.Errorf("the same request is sent as %.2000s", out.Body)
		}
		expanded = bytes.Clone(out.Body)
	}
}
