package responses_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"epitome/internal/fakeapi/responses"
	"epitome/internal/fakeapi/responses/rules"
	"epitome/internal/fakeapi/scriptedtest"
)

// client keeps a conversation with a server.
type client struct {
	t       *testing.T
	server  *responses.Server
	history []string
}

// ask sends items behind the history and adds both and the answer's to it, unless they are refused. It returns the body.
func (c *client) ask(want, settings string, items ...string) {
	c.t.Helper()
	all := append(slices.Clone(c.history), items...)
	body := `{"model":"gpt-5","store":false,"include":["reasoning.encrypted_content"]` + settings + `,"input":[` + strings.Join(all, ",") + "]}"
	r, err := http.NewRequest(http.MethodPost, c.server.URL()+"/v1/responses", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer k")
	resp, err := scriptedtest.Direct().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if got := fmt.Sprint(resp.StatusCode, " ", string(text), " ", err); !strings.Contains(got, want) {
		c.t.Errorf("%s\n got %s\nwant %s", body, got, want)
	}
	var answer struct{ Output []json.RawMessage }
	if json.Unmarshal(text, &answer) == nil && resp.StatusCode == 200 {
		c.history = all
		for _, item := range answer.Output {
			c.history = append(c.history, string(item))
		}
	}
}

func TestTurnsAreAnsweredAndFlawsRefused(t *testing.T) {
	m := rules.ModelOf("gpt-5")
	m.Window = 1000
	c := &client{t: t, server: scriptedtest.StartResponses(t, responses.Options{Models: map[string]rules.Model{"gpt-5": m}})}
	const look, output = `{"role":"user","content":"Look."}`, `{"type":"function_call_output","call_id":"call_a","output":"a"}`
	c.server.Next(responses.Turn{Refuse: rules.Overloaded()},
		responses.Turn{Items: []responses.Item{responses.Think("hm"), responses.Call("call_a", "bash", `{"c":"ls"}`)}})
	c.ask("503 ", "", look)
	c.ask("Missing required parameter", "", `{"content":"Look."}`)
	c.ask("Unknown parameter: 'streams'.", `,"streams":true`, look)
	c.ask("exceeds the context window", "", fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("long ", 1000)))
	c.ask(`"status":"completed"`, "", look)
	c.ask("No tool output found for function call call_a.", "", `{"role":"user","content":"And?"}`)
	whole := c.history // user, reasoning, call
	c.history = slices.Delete(slices.Clone(whole), 1, 2)
	c.ask("was provided without its required 'reasoning' item", "", output)
	c.history = slices.Delete(slices.Clone(whole), 2, 3)
	c.ask("was provided without its required following item", "")
	c.history = slices.Clone(whole)
	c.history[1] = strings.Replace(whole[1], `"encrypted_content":"`, `"encrypted_content":"x`, 1)
	c.ask("could not be verified", "", output)
	c.history = whole
	c.ask("event: response.completed", `,"stream":true`, output)
}
