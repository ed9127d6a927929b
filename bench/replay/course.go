package replay

import "epitome/bench/replay/figures"

// course returns the course of the conversation that the players have played.
func (r *replayRun) course(c *recording, players []*player) figures.Course {
	out := figures.Course{Conversation: c.name, Requests: len(c.bounds), Raw: figures.SeriesOf(nil)}
	out.Sent = []figures.SentSeries{} // not null in JSON
	for i, x := range players {
		if i == 0 {
			out.Raw = figures.SeriesOf(x.track.rawTokens)
		}
		if i%len(r.policies) < len(r.policies)-len(r.Policies)-len(r.Guests) {
			continue
		}
		out.Sent = append(out.Sent, figures.SentSeries{
			Window: x.window, Policy: x.policy, Series: figures.SeriesOf(x.track.sentTokens),
			Decided: len(x.track.decisions), Decisions: figures.Evenly(x.track.decisions, figures.MostPoints),
		})
	}
	return out
}
