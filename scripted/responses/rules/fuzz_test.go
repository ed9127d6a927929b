package rules_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"epitome/scripted/responses/rules"
)

// FuzzBodiesAreReadOrRefused holds that no body makes the server fail, and that what it takes is JSON with items whose
// one form is JSON, too.
func FuzzBodiesAreReadOrRefused(f *testing.F) {
	for _, body := range []string{sound, `{"model":"m","input":"x"}`, `{"model":"m","input":[]}`, `null`, `[]`, `{"input":[{"id":"x"}]}`,
		`{"model":"m","input":[{"type":"local_shell_call_output","id":"x","output":"{}"}]}`, `{"model":"m","tools":[{}],"input":[1]}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, refused := rules.Read(http.Header{}, body, rules.Answer, rules.ModelOf)
		if refused != nil {
			if len(refused.Body()) == 0 || refused.Status < 400 {
				t.Errorf("%q is refused with %v", body, refused)
			}
			return
		}
		for _, i := range q.Items {
			if !json.Valid(i.Canon) {
				t.Errorf("%q has an item whose form is no JSON: %q", body, i.Canon)
			}
		}
		_ = rules.CheckPairs(q.Items)
	})
}
