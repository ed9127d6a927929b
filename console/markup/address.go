package markup

import (
	"net/url"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/chart"
)

// Address is where a link leads: below /-/, or within its own page. Only At and Here make one. The zero Address leads
// nowhere.
type Address struct {
	text  string // escaped
	asked bool   // text has a query
}

// mostSegment bounds, in characters, a name within an address. Names of epitome's own are shorter.
const mostSegment = 200

// At is the place below /-/ to which the segments of its path lead. Each of them is escaped: whatever it says, it names
// no scheme and no host, adds no segment and leaves none.
func At(segments ...string) Address {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		if s == "." || s == ".." { // would lead upwards, however it is escaped; no name of epitome's own is such
			s = "…"
		}
		escaped[i] = url.PathEscape(chart.Shortened(s, mostSegment))
	}
	return Address{text: "/-/" + strings.Join(escaped, "/")}
}

// Here is a place within the page that the link stands in.
func Here(id string) Address { return Address{}.To(id) }

// With is the same place, asked for with a value more.
func (a Address) With(name, value string) Address {
	sign := "?"
	if a.asked {
		sign = "&"
	}
	return Address{a.text + sign + url.QueryEscape(name) + "=" + url.QueryEscape(value), true}
}

// To is the element of the place that has the id. Nothing is added behind it.
func (a Address) To(id string) Address { return Address{a.text + "#" + url.PathEscape(id), a.asked} }

// Leads reports whether the address leads anywhere.
func (a Address) Leads() bool { return a.text != "" }

// String is the address as a browser takes it.
func (a Address) String() string { return a.text }

// Link leads to a place.
func Link(to Address, content ...g.Node) g.Node { return h.A(Href(to), g.Group(content)) }

// Href is the attribute of what leads to a place.
func Href(to Address) g.Node { return h.Href(to.text) }

// Src is the attribute of what is loaded from there.
func Src(from Address) g.Node { return h.Src(from.text) }

// Action is the attribute of a form that is sent there.
func Action(to Address) g.Node { return h.Action(to.text) }
