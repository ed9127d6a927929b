package rewrite

import (
	"fmt"
	"strings"
	"testing"
)

// servicesCalled are calls of tools that are none of files and shells, each with its arguments and its result.
var servicesCalled = []string{
	"get_booking", `{"booking_id":"QX71LM"}`, booked("QX71LM", `"bags": {"total": 2}`),
	"transfer", `{"from":"a_1","to":"a_2","amount":500}`, `{"error": {"code": "LIMIT", "message": "over the limit of 100"}}`,
	"transfer", `{"from":"a_1","to":"a_2","amount":50}`, `{"id": "t_1", "status": "done"}`,
	"update_bags", `{"booking_id":"QX71LM","total":4,"paid_by":"card_8"}`,
	booked("QX71LM", `"charge": {"amount": 70, "confirmation": "BAG-10932"}`),
	"cancel_booking", `{"booking_id":"M3N9AA"}`, `{"success": false, "message": "A basic fare cannot be cancelled."}`,
	"run_cell", `{"code":"g['amout'].sum()"}`, `{"outputs": [{"output_type": "error", "ename": "KeyError", ` +
		`"evalue": "'no column amout'", "traceback": [` + eachOf(40, func(int) string { return `"   201    frame of pandas", ` }) + `"KeyError"]}]}`,
	"fetch_page", `{"url":"https://law.example/noise"}`, `{"error": {"status": 403, "message": "robots.txt disallows this path"}}`,
	"browser_click", `{"element":"Submit","ref":"e79"}`, "### Page state\n- Page URL: https://erp.example/new\n- Page Title: New order\n" +
		"- Page Snapshot:\n  - alert [ref=e3]: 12 is over the limit\n",
	"browser_click", `{"element":"Submit","ref":"e79"}`, "### Page state\n- Page URL: https://erp.example/orders/40160\n- Page Title: Order PO-40160\n",
}

// declared is a tool as a client of Chat Completions declares it.
func declared(name string) string {
	return `{"type":"function","function":{"name":"` + name + `","parameters":{"type":"object"}}}`
}

// showServices shows what stays of what services, a browser and the web answered.
func showServices(t *testing.T, p *showing) {
	t.Helper()
	fares := eachOf(40, func(int) string { return `{"rule": "Changes cost 60 EUR for each passenger."}, ` }) + `{"rule": "None."}`
	a := clearing()
	a.tools = `"tools":[` + declared("update_bags") + "," + declared("browser_click") + "," + declared("fetch_page") + "],"
	a.does("update_bags", `{"booking_id":"W2E8RT","total":4}`, booked("W2E8RT", `"charge": {"amount": 70, "confirmation": "BAG-10932"}, "fares": [`+fares+"]"))
	a.does("browser_click", `{"element":"Submit","ref":"e79"}`, "### Page state\n- Page URL: https://erp.example/orders/40160\n- Page Title: Order PO-40160\n"+
		"- Page Snapshot:\n"+eachOf(60, func(int) string { return "  - link [ref=e7] [cursor=pointer]:\n    - /url: /orders\n" }))
	a.does("fetch_page", `{"url":"https://law.example/noise"}`, "[Skip to content](#main)\n\n# Noise of heat pumps\n\n"+paragraphs(30))
	showWhenCleared(t, p, a, 3, "An old answer of a service, a browser or the web was cleared. No tool reads files.")
}

// showUnread shows what an agent is given of a list that it could not read any more of.
func showUnread(t *testing.T, p *showing) {
	a := readable(1_000_000)
	a.tools = `"tools":[` + declared("get_payouts") + "," + declared("refund") + "],"
	p.add("None of the agent's tools reads files, and the answer is a JSON list.",
		result(t, a, "get_payouts", `{"day":7}`, `{"data":[`+strings.TrimSuffix(eachOf(120, func(i int) string {
			state := map[bool]string{true: "stuck", false: "settled"}[i == 77]
			return fmt.Sprintf(`{"id":"po_%d","amount":%d,"state":"%s"},`, 7000+i, i*731%997, state)
		}), ",")+"]}"))
}
