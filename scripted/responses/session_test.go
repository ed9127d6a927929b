package responses_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/scripted/responses"
	"epitome/scripted/responses/rules"
)

// begun is a conversation in which the model thought, spoke, called twice and was answered.
func begun(t *testing.T) *client {
	t.Helper()
	c := newClient(t, responses.Options{})
	c.server.Next(responses.Turn{Items: []responses.Item{responses.Think("hm"), responses.Text("I look."),
		responses.Call("call_a", "bash", `{"c":"ls"}`), responses.Call("call_b", "bash", `{"c":"pwd"}`)}},
		responses.Turn{Items: []responses.Item{responses.Think("so"), responses.Call("call_c", "bash", `{}`)}})
	c.user("Look.").ask()
	c.output("call_a", "a").output("call_b", "b").ask()
	c.output("call_c", "c")
	return c
}

func TestReasoningStaysWithWhatItLedTo(t *testing.T) {
	// user, rs, msg, fc a, fc b, out a, out b, rs, fc c, out c
	c := begun(t)
	c.refused(200, "")
	f := func(want string, drop ...int) {
		t.Helper()
		whole := c.history
		c.history = nil
		for n, item := range whole {
			if !slices.Contains(drop, n) {
				c.history = append(c.history, item)
			}
		}
		status := 400
		if want == "" {
			status = 200
		}
		c.refused(status, want)
		c.history = whole
	}
	rs := func(n int) string { return fmt.Sprintf("rs_%032d", n) }
	following := func(n int) string {
		return fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", rs(n))
	}
	f("", 1, 2, 3, 4, 5, 6)
	f("", 7, 8, 9)
	f(following(1), 2, 3, 4, 5, 6)
	f(following(1), 2)
	f(following(5), 8, 9)
	f(fmt.Sprintf("Item 'msg_%032d' of type 'message' was provided without its required 'reasoning' item: '%s'.", 2, rs(1)), 1)
	f(fmt.Sprintf("Item 'fc_%032d' of type 'function_call' was provided without its required 'reasoning' item: '%s'.", 6, rs(5)), 7)
	f(fmt.Sprintf("Item 'fc_%032d' of type 'function_call' was provided without its required 'reasoning' item: '%s'.", 3, rs(1)), 1, 2)
	f("No tool output found for function call call_a.", 5)
	f("", 4, 6)
}

func TestItemsWithoutIDsAreTakenByValue(t *testing.T) {
	c := begun(t)
	for n := range c.history {
		for _, prefix := range []string{"rs", "msg", "fc"} {
			for k := 1; k < 10; k++ {
				c.history[n] = strings.Replace(c.history[n], fmt.Sprintf(`"id":"%s_%032d",`, prefix, k), "", 1)
			}
		}
	}
	c.refused(200, "")
	c.history = append(c.history[:1:1], c.history[2:]...)
	c.refused(200, "")
}

func TestIDsThatTheClientMadeAreNobodys(t *testing.T) {
	c := begun(t)
	for n := range c.history {
		c.history[n] = strings.ReplaceAll(c.history[n], `"id":"fc_0`, `"id":"fc_call`)
	}
	c.refused(200, "")
	c.history[3] = strings.Replace(c.history[3], `\"ls\"`, `\"ls -l\"`, 1) // what a call says may be shortened
	c.refused(200, "")
	c.history = slices.Delete(c.history, 8, 10)
	c.refused(400, "Item 'rs_00000000000000000000000000000005' of type 'reasoning' was provided without its required following item.")
}

func TestOpaqueStringsAreThoseThatWereIssued(t *testing.T) {
	c := begun(t)
	at := strings.Index(c.history[1], `"encrypted_content":"`) + len(`"encrypted_content":"`)
	opaque := c.history[1][at : at+strings.IndexByte(c.history[1][at:], '"')]
	f := func(status int, now, want string) {
		t.Helper()
		whole := c.history[1]
		c.history[1] = strings.Replace(whole, opaque, now, 1)
		c.refused(status, want)
		c.history[1] = whole
	}
	f(200, opaque, "")
	const unread = "Encrypted content could not be decrypted or parsed."
	f(400, opaque[:len(opaque)-4], "The encrypted content "+opaque[:4]+"..."+opaque[len(opaque)-8:len(opaque)-4]+
		" could not be verified. Reason: "+unread)
	f(400, "made up", "The encrypted content made up could not be verified. Reason: "+unread)
	f(404, "", "Item with id 'rs_00000000000000000000000000000001' not found. Items are not persisted when `store` is set to false.")
	c.history[7] = strings.Replace(c.history[7], "rs_00000000000000000000000000000005", "rs_9", 1)
	c.refused(400, "The encrypted content "+c.sealed(7)+" could not be verified. Reason: Encrypted content item_id did not match the target item id.")
	c.history[7] = strings.Replace(c.history[7], "rs_9", "rs_00000000000000000000000000000005", 1)
	c.key = "another"
	c.refused(400, "The encrypted content "+c.sealed(1)+" could not be verified. Reason: Encrypted content organization_id did not match the target organization.")
	other := newClient(t, responses.Options{})
	other.history = c.history
	other.refused(200, "")
}

// sealed is how the server quotes the opaque string of an item.
func (c *client) sealed(n int) string {
	at := strings.Index(c.history[n], `"encrypted_content":"`) + len(`"encrypted_content":"`)
	opaque := c.history[n][at : at+strings.IndexByte(c.history[n][at:], '"')]
	return opaque[:4] + "..." + opaque[len(opaque)-4:]
}

func TestAdoptedConversationsCountAsIssued(t *testing.T) {
	c := newClient(t, responses.Options{})
	c.user("Look.").add(`{"type":"reasoning","id":"rs_a","summary":[],"encrypted_content":"foreign"}`,
		`{"type":"function_call","id":"fc_a","call_id":"call_a","name":"bash","arguments":"{}"}`).output("call_a", "x")
	c.refused(400, "The encrypted content foreign could not be verified.")
	if err := c.server.Adopt([]byte(c.body())); err != nil {
		t.Fatal(err)
	}
	c.refused(200, "")
	c.history = slices.Delete(c.history, 1, 2)
	c.refused(400, "Item 'fc_a' of type 'function_call' was provided without its required 'reasoning' item: 'rs_a'.")
	c.settings += `"previous_response_id":"resp_a",`
	c.history = c.history[len(c.history)-1:]
	c.refused(400, "Previous response with id 'resp_a' not found.")
	if err := c.server.Adopt([]byte(c.body())); err != nil {
		t.Fatal(err)
	}
	c.refused(200, "")
}

func TestKeptResponsesStandForWhatWasSaid(t *testing.T) {
	c := newClient(t, responses.Options{})
	plain := `"model":"gpt-5",`
	c.settings = plain
	c.server.Next(responses.Turn{Items: []responses.Item{responses.Think("hm"), responses.Call("call_a", "bash", `{}`)}})
	first, _ := c.user("Look.").ask()
	c.settings, c.history = plain+`"previous_response_id":"`+first.ID+`",`, nil
	c.user("And?").refused(400, "No tool output found for function call call_a.")
	c.history = nil
	second, _ := c.output("call_a", "12345678").ask()
	if second.Status != "completed" || second.Usage.Input <= first.Usage.Input {
		t.Errorf("then %+v", second)
	}
	c.settings, c.history = plain, nil
	c.user("Look.").add(fmt.Sprintf(`{"type":"item_reference","id":"rs_%032d"}`, 1), fmt.Sprintf(`{"id":"fc_%032d"}`, 2)).output("call_a", "x")
	c.refused(200, "")
	c.add(`{"id":"msg_9"}`).refused(404, "Item with id 'msg_9' not found.")
	c.settings, c.history = plain+`"previous_response_id":"resp_9",`, nil
	c.user("x").refused(400, "Previous response with id 'resp_9' not found.")
	c.settings = plain + `"store":false,`
	third, _ := c.ask()
	c.settings = plain + `"previous_response_id":"` + third.ID + `",`
	c.refused(400, "Previous response with id '"+third.ID+"' not found.")
}

func TestConversationsAreKept(t *testing.T) {
	c := newClient(t, responses.Options{})
	c.path = "/v1/conversations"
	if _, _, text := c.post("{}"); !strings.Contains(string(text), `"id":"conv_00000000000000000000000000000001"`) {
		t.Fatalf("opened %s", text)
	}
	c.path, c.settings = "/v1/responses", `"model":"gpt-5","conversation":{"id":"conv_00000000000000000000000000000001"},`
	c.server.Next(responses.Turn{Items: []responses.Item{responses.Call("call_a", "bash", `{}`)}})
	c.user("Look.").ask()
	c.history = nil
	c.user("And?").refused(400, "No tool output found for function call call_a.")
	c.history = nil
	c.output("call_a", "x").refused(200, "")
	c.settings = strings.Replace(c.settings, "conv_0", "conv_1", 1)
	c.refused(404, "Conversation with id 'conv_1")
}

func TestCompactionsAreAnsweredWithOneItem(t *testing.T) {
	c := begun(t)
	c.settings += `"stream":true,`
	c.add(`{"type":"compaction_trigger"}`)
	c.server.Next(responses.Say(strings.Repeat("all that was said ", 20)))
	_, _, text := c.post(c.body())
	if got := names(t, text); got != "created in_progress output_item.added output_item.done completed" {
		t.Errorf("a trigger is answered with %s", got)
	}
	item := fmt.Sprintf(`{"id":"cmp_%032d","type":"compaction","encrypted_content":`, 7)
	at := strings.Index(string(text), `"encrypted_content":`)
	if at < 0 {
		t.Fatalf("without a compaction: %s", text)
	}
	opaque := string(text)[at+len(`"encrypted_content":`):]
	opaque = opaque[:strings.IndexByte(opaque[1:], '"')+2]
	c.settings = strings.Replace(c.settings, `"stream":true,`, "", 1)
	c.history = nil
	c.user("Look.").add(item + opaque + "}")
	if a, status := c.ask(); status != 200 || a.Usage.Input < 90 {
		t.Errorf("behind a compaction: %d %+v", status, a)
	}
	c.path = "/v1/responses/compact"
	c.history = begun(t).history
	a, _ := c.ask()
	if a.Object != "response.compaction" || len(a.Output) != 2 || !strings.Contains(string(a.Output[0]), `"Look."`) {
		t.Errorf("/compact answers %+v", a)
	}
	c.path = "/v1/responses"
	c.history = nil
	c.settings += `"context_management":[{"type":"compaction","compact_threshold":10}],`
	if a, _ := c.user(strings.Repeat("x", 80)).ask(); len(a.Output) != 2 || !strings.Contains(string(a.Output[0]), `"compaction"`) {
		t.Errorf("beyond its threshold it answers %+v", a)
	}
}

func TestTruncationLeavesOutWhatDoesNotFit(t *testing.T) {
	m := rules.ModelOf("gpt-5")
	m.Window = 100
	c := newClient(t, responses.Options{Models: map[string]rules.Model{"gpt-5": m}})
	c.settings += `"truncation":"auto",`
	if a, _ := c.user(strings.Repeat("a", 400)).user("abcd").ask(); a.Usage.Input != 5 {
		t.Errorf("it is answered with %+v", a)
	}
}
