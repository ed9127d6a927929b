package drawing

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/chart"
	"epitome/console/markup"
	"epitome/console/story"
)

// Rates is how many exchanges there were in each hour or day, as a chart.
type Rates struct {
	by      string // hour or day
	bars    []rate
	up      []chart.Tick
	earlier string // the first hour or day
	newest  string // the last one; empty where it would stand on the first
	end     string // where the last bar ends
}

// rate is one bar.
type rate struct{ x, y, width, height, title string }

const (
	ratesLeft   = 50
	ratesWidth  = 740
	ratesTop    = 8
	ratesHeight = 80
	mostRates   = 120 // the newest are drawn
)

// NewRates draws the rows; nil if there are none.
func NewRates(rows []story.Row, by string) *Rates {
	rows = rows[max(0, len(rows)-mostRates):]
	most := int64(0)
	for _, row := range rows {
		most = max(most, row.Sums.Exchanges)
	}
	if most == 0 {
		return nil
	}
	plot := chart.Plot{Top: ratesTop, Height: ratesHeight, Most: max(4, chart.AxisEnd(float64(most)))}
	pitch := min(ratesWidth/float64(len(rows)), 60)
	end := ratesLeft + pitch*float64(len(rows))
	c := &Rates{by: by, earlier: markup.Shown(rows[0].Key), end: chart.Units(end), up: plot.Up()}
	if end > ratesLeft+300 {
		c.newest = markup.Shown(rows[len(rows)-1].Key)
	}
	for i, row := range rows {
		y := plot.Y(int(row.Sums.Exchanges))
		c.bars = append(c.bars, rate{x: chart.Units(ratesLeft + pitch*float64(i) + pitch/10), y: chart.Units(y),
			width: chart.Units(pitch * 0.8), height: chart.Units(ratesTop + ratesHeight - y),
			title: markup.Shown(row.Key) + ": " + strconv.FormatInt(row.Sums.Exchanges, 10) + " exchanges, " +
				strconv.FormatInt(row.Sums.Failed, 10) + " failed"})
	}
	return c
}

// View is the chart with its heading.
func (c *Rates) View() g.Node {
	if c == nil {
		return nil
	}
	heading := "Exchanges by " + c.by
	span := heading + ", from " + c.earlier
	if c.newest != "" {
		span += " to " + c.newest
	}
	return markup.Lines{
		h.H2(h.ID("rates"), g.Text(heading)),
		markup.Region(h.Aria("labelledby", "rates"), g.El("svg", h.Class("chart"), g.Attr("viewBox", "0 0 800 112"),
			h.Role("img"), h.Aria("label", span), title(heading), markup.Lines{
				markup.Each(c.up, tick),
				markup.Each(c.bars, rate.view),
				g.Group{caption("", "50", "106", c.earlier), g.If(c.newest != "", caption("end", c.end, "106", c.newest))},
			})),
	}
}

func (r rate) view() g.Node {
	return g.El("rect", h.Class("bar"), g.Attr("x", r.x), g.Attr("y", r.y), h.Width(r.width), h.Height(r.height),
		title(r.title))
}
