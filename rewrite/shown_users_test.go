package rewrite

import (
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/plan"
)

// byTool stands for a place that nobody is told of, because the model has epitome's tool.
const byTool = "tool"

func showUsersMessages(t *testing.T, p *showing) {
	const tools = `,"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}]}`
	f := func(when string, mute bool, says ...string) {
		t.Helper()
		a := newAgent(1_000_000, userSays(theTask))
		a.cupboard.Mute = mute
		for _, s := range says {
			a.work(1, 200)
			a.answers("What are the orders?", s)
		}
		body := strings.TrimSuffix(a.body(), "}") + tools
		out := a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &a.limits,
			Rescue: &plan.Rescue{Most: 3_000, From: plan.StageBare}})
		for _, s := range changed(t, a, out) {
			if strings.Contains(s, "stood here") {
				p.add(when, s)
				return
			}
		}
		t.Errorf("%s: it is not left to the transcript", when)
	}
	f("The newest message of the user is larger than the window.", false, "Go on.", paragraphs(900))
	f("It is, and the agent cannot read files of this machine.", true, "Go on.", paragraphs(900))
}
