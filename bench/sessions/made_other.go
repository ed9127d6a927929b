package sessions

import (
	"fmt"
	"strings"
)

// Sessions in which no code is written.

// hit is a page that a search has found.
type hit struct{ title, site, url string }

// research asks the web: searches, long pages, pages that are opened again, and notes.
func research(m *maker) {
	m.system("You are a research agent. Cite the address of every page that you rely on. " + Paragraph(m.d, 4))
	pages := map[string]string{}
	var seen []hit
	for m.more() {
		topic := Topic(m.d)
		m.user(fmt.Sprintf("What is known about the %s? %s", topic, Paragraph(m.d, m.d.IntN(3))))
		for range 2 + m.d.IntN(3) {
			hits := m.search(topic)
			for range 1 + m.d.IntN(3) {
				h := hits[m.d.IntN(len(hits))]
				m.open(h, pages)
				seen = append(seen, h)
			}
			if len(seen) > 6 && m.d.IntN(3) == 0 {
				m.open(seen[m.d.IntN(len(seen)-4)], pages)
			}
			topic = Topic(m.d)
		}
		last := seen[len(seen)-1]
		m.does("", step{"note", arguments{"source": last.url, "text": sentenceOf(pages[last.url])}, "noted"})
		m.tells(fmt.Sprintf("%s See %s and %s.", Paragraph(m.d, 5), last.url, seen[m.d.IntN(len(seen))].url))
	}
}

// search finds ten pages.
func (m *maker) search(topic string) []hit {
	var hits []hit
	var b strings.Builder
	for i := range 10 {
		h := hit{title: Topic(m.d),
			site: fmt.Sprintf("%s.example", strings.ReplaceAll(strings.Fields(Topic(m.d))[0], " ", "-"))}
		h.url = fmt.Sprintf("https://%s/reports/%x", h.site, m.d.Uint32())
		hits = append(hits, h)
		fmt.Fprintf(&b, "%d. %s\n   %s\n   %s\n", i+1, h.title, h.url, Paragraph(m.d, 2))
	}
	m.does("", step{"web_search", arguments{"query": topic}, b.String()})
	return hits
}

func (m *maker) open(h hit, pages map[string]string) {
	if pages[h.url] == "" {
		pages[h.url] = Page(m.d, h.site, h.title, 3+m.d.IntN(14))
	}
	m.does("", step{"open_page", arguments{"url": h.url}, pages[h.url]})
}

// sentenceOf returns a sentence in the middle of a page.
func sentenceOf(page string) string {
	all := strings.Split(page, ". ")
	return all[len(all)/2]
}

// browsing presses what a browser shows.
func browsing(m *maker) {
	const site = "shop.example"
	m.system("You operate a browser. Each observation is the page as it is now. " + Paragraph(m.d, 4))
	screens := map[string]string{}
	for m.more() {
		title := Topic(m.d)
		m.user(fmt.Sprintf("Find the order about the %s and write its number into the list. %s",
			title, Sentence(m.d)))
		text, numbers := Screen(m.d, site, "Orders: "+title, 15+m.d.IntN(60))
		m.does("I begin with the list.", step{"goto", arguments{"url": "https://" + site + "/admin/sales"}, text})
		for range 4 + m.d.IntN(8) {
			press := fmt.Sprint(numbers[m.d.IntN(len(numbers))])
			if screens[title+press] == "" {
				screens[title+press], _ = Screen(m.d, site, "Order "+press, 5+m.d.IntN(30))
			}
			m.does("", step{"click", arguments{"element": press}, screens[title+press]})
			if m.d.IntN(3) == 0 {
				m.does("Back to the list.", step{"back", arguments{}, text})
			}
		}
		m.does("", step{"type", arguments{"element": "141", "text": fmt.Sprintf("%s: %d", title, numbers[0])}, text})
		m.tells("It is written down: " + title + ".")
	}
}

// support answers customers from what the shop knows.
func support(m *maker) {
	m.system("You answer customers of a shop.\n\n" + Page(m.d, "rules.example", "What may be promised", 6))
	orders := map[string]string{}
	var numbers []string
	for m.more() {
		number := fmt.Sprintf("ORD-%07d", m.d.IntN(10_000_000))
		if len(numbers) > 3 && m.d.IntN(3) == 0 {
			number = numbers[m.d.IntN(len(numbers))]
		}
		if orders[number] == "" {
			orders[number] = Order(m.d, number)
			numbers = append(numbers, number)
		}
		m.user(fmt.Sprintf("Order %s: %s %s", number, Sentence(m.d), Sentence(m.d)))
		m.does("", step{"get_order", arguments{"order": number}, orders[number]})
		if m.d.IntN(2) == 0 {
			m.does("", step{"search_articles", arguments{"query": Topic(m.d)},
				Page(m.d, "help.example", Topic(m.d), 1+m.d.IntN(4))})
		}
		if payment := between(orders[number], `"reference": "`, `"`); m.d.IntN(2) == 0 {
			m.does("", step{"refund", arguments{"order": number, "payment": payment},
				`{"state": "accepted", "reference": "` + payment + `"}`})
		}
		m.tells(Paragraph(m.d, 2+m.d.IntN(3)))
	}
}

// between returns the text between two marks.
func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}
