package rewrite

import (
	"maps"
	"slices"
	"strings"

	"epitome/tokenize"
)

// plan is a decision in the making: the form of each item, and what must lie on the shelf before it may be recorded.
type plan struct {
	ladder
	*inquiry
	scale         Scale
	scope         string
	shelf         Shelf
	req           *Request
	hist          *history
	base          *decision
	forms         []*form
	kept          []ware
	made          []Change
	stable        int          // items behind the head that count for rung 2
	fresh         map[int]bool // items behind the head that have a new form
	broke         bool         // an item that had been sent is sent in another form
	late          bool         // nothing could be put on the shelf when it came; at the line all items are looked at
	cold          bool         // the provider has nothing cached that a new form of old items could cost
	ratio         float64
	size          Size            // of the request as it came
	artifactNames map[string]bool // names of artifacts that forms speak of

	newNames []string     // names put into artifactNames, in their order: what undo takes out again
	dropped  []heldResult // results taken out of the index of lines: what undo puts back
}

// ware is content for the shelf.
type ware struct {
	name    string
	content []byte
}

// sent is how many tokens item i takes as it is sent.
func (p *plan) sent(i int) int {
	if f := p.forms[i]; f != nil {
		return f.Now
	}
	return p.hist.sizes[i]
}

// first is how many tokens item i took when it was first sent.
func (p *plan) first(i int) int {
	if f := p.forms[i]; f != nil {
		return f.First
	}
	return p.hist.sizes[i]
}

// count measures a text.
func (p *plan) count(text string) int { return p.scale.Counter.CountString(text) }

// marks notes of which artifacts a form speaks.
func (p *plan) marks(f *form) {
	if f == nil {
		return
	}
	for _, name := range f.artifacts() {
		if !p.artifactNames[name] {
			p.artifactNames[name], p.newNames = true, append(p.newNames, name)
		}
	}
}

// set gives item i a new form.
func (p *plan) set(i int, f *form, why string) {
	before := p.sent(i)
	f.Whole, f.First = p.hist.sizes[i], p.first(i)
	if p.forms[i] == nil && i >= p.base.depth() {
		f.First = f.Now
	}
	p.put(i, f)
	p.takeOut(i, f)
	p.broke = p.broke || i < p.base.depth()
	p.fresh[i] = true
	p.marks(f)
	c := Change{Item: p.req.Head + i, Rung: f.Rung.String(), Why: why}
	if names := f.artifacts(); len(names) > 0 {
		c.Artifact = names[0]
	}
	for k := 1; k < f.Fold; k++ {
		before += p.sent(i + k)
	}
	c.Before, c.After = int(float64(before)*p.ratio), int(float64(f.Now)*p.ratio)
	if k := p.hist.at[i]; k >= 0 {
		c.Tool, c.Argument = p.hist.results[k].name, p.hist.results[k].deed.key
	} else if it := &p.req.Items[p.req.Head+i]; len(it.Calls) > 0 && f.Fold == 0 {
		c.Tool = it.Calls[0].Name
	}
	p.made = append(p.made, c)
}

// takeOut notes what the form takes out of item i and those behind it.
func (p *plan) takeOut(i int, f *form) { p.kept = append(p.kept, f.kept(p.req, i)...) }

// changes are the new forms in the order of the items: of each item the last one, and none of those that were left out
// with others after all.
func (p *plan) changes() (list []Change) {
	last := map[int]int{}
	for k, c := range p.made {
		if before, ok := last[c.Item]; ok {
			p.made[k].Before = p.made[before].Before
		}
		last[c.Item] = k
	}
	for _, item := range slices.Sorted(maps.Keys(last)) {
		if f := p.forms[item-p.req.Head]; f != nil && !f.Gone {
			list = append(list, p.made[last[item]])
		}
	}
	return list
}

// recount gives the forms that were decided for another model the sizes that they have for this one.
func (p *plan) recount(forms []*form) {
	for i, f := range forms {
		if f == nil {
			continue
		}
		g := *f
		g.Whole = p.hist.sizes[i]
		if len(f.Patches) > 0 {
			g.Now = p.patched(i, f)
		}
		if f.With != "" {
			if m, err := p.req.Dialect.ReadMessage([]byte(f.With)); err == nil {
				g.Now = m.CountItem(p.scale, 0)
			}
		}
		if g.First = g.Now; f.First > f.Now {
			g.First = int(int64(f.First) * int64(g.Whole) / int64(max(1, f.Whole)))
		}
		forms[i] = &g
	}
}

// patched is how many tokens item i has when it is sent in the form.
func (p *plan) patched(i int, f *form) int {
	it, n := &p.req.Items[p.req.Head+i], p.hist.sizes[i]
	beside := p.req.besideOthers(p.req.Head + i)
	spans := f.spans(p.req, it)
	for k, q := range f.Patches {
		n += p.spend(q.Text, i)
		if q.Place == behind {
			continue
		}
		if q.Place == wholeContent {
			content, media := p.req.countContent(p.scale, it, beside)
			n -= content + media
		} else {
			n -= p.scale.text(spans[k].Of(p.req.Body), beside)
		}
	}
	return n
}

// put makes f the form of item i. What shows an item whole is nothing to refer to any more.
func (p *plan) put(i int, f *form) {
	p.forms[i] = f
	if k := p.hist.at[i]; k >= 0 && k < p.hist.lined {
		p.dropped = append(p.dropped, p.hist.lines.drop(i)...)
	}
}

// where says how to get an artifact back.
func (p *plan) where(name string) string {
	if a := p.shelf.Address(name); a != "" {
		return where(a)
	}
	return keptAs(name)
}

// messageTokens is what a message of an assistant or user with this text takes.
func (p *plan) messageTokens(text string) int { return tokenize.PerMessage + 1 + p.count(text) }

// spend is how many tokens a text takes as that of item i.
func (p *plan) spend(text string, i int) int {
	if p.scale.Model.Exact && p.req.besideOthers(p.req.Head+i) {
		return p.scale.Counter.Escaped([]byte(text))
	}
	return p.count(text)
}

// passage is a text of a result that may be shortened.
type passage struct {
	place  place
	index  int
	raw    []byte // as it stands in the body
	text   string
	tokens int
	spent  int // tokens that it takes of the item: results beside others cost as they are escaped
}

// passages are the texts of item i, and how many tokens they have together. What is in no text is left as it is.
func (p *plan) passages(i int) (list []passage, tokens int) {
	it := &p.req.Items[p.req.Head+i]
	if it.Content.Empty() {
		return nil, 0
	}
	beside := p.req.besideOthers(p.req.Head + i)
	add := func(w passage, v Span) {
		w.raw = v.Of(p.req.Body)
		text, err := unquote(w.raw)
		if err != nil {
			return
		}
		w.text, w.tokens = text, p.scale.text(w.raw, false)
		w.spent = p.scale.text(w.raw, beside)
		list, tokens = append(list, w), tokens+w.tokens
	}
	if p.req.Body[it.Content.Start] == '"' {
		add(passage{place: wholeContent}, it.Content)
		return list, tokens
	}
	parts, err := p.req.Parts(it)
	if err != nil {
		return nil, 0
	}
	for n, q := range parts {
		if q.Kind == TextPart && p.req.Body[q.Value.Start] == '"' {
			add(passage{place: partText, index: n}, q.Value)
		}
	}
	return list, tokens
}

// decidable reports whether items that were decided on may be decided on again: not because of what stands behind them.
func (p *plan) decidable() bool {
	return p.replaces() || p.stable > p.base.depth() || p.base.version == 0
}

// arrivals is rung 1: results that are sent for the first time are shortened if they are over their limit. When late,
// all that are sent whole are looked at.
func (p *plan) arrivals() {
	again := p.late && p.decidable()
	used := p.referred()
	for k := range p.hist.results {
		res := &p.hist.results[k]
		if p.forms[res.item] != nil || res.item < p.base.depth() && (!again || used[res.item]) {
			continue
		}
		p.arrive(res)
	}
}

// referred are the items to which others refer.
func (p *plan) referred() map[int]bool {
	used := map[int]bool{}
	for k := range p.hist.results {
		for _, i := range p.refers(&p.hist.results[k]) {
			used[i] = true
		}
	}
	return used
}

func (p *plan) arrive(res *result) {
	limit, keep, untouched := p.limitOf(res.name, res.deed.kind == reading || res.deed.only)
	if untouched || p.hist.sizes[res.item] < leastCleared {
		return
	}
	recalled := p.recalled(res)
	if recalled != "" {
		limit, keep = p.recall, p.recall
	}
	list, tokens := p.passages(res.item)
	f := &form{Rung: rungOffload, Now: p.hist.sizes[res.item]}
	why := ""
	for _, w := range list {
		if p.marked(w.text) && w.tokens <= p.recall { // it was cut before, or shows something that was
			continue
		}
		c := cut{plan: p, res: res, passage: w, limit: limit, keep: keep, recalled: recalled}
		if len(list) > 1 { // each has its share
			c.limit, c.keep = int(int64(limit)*int64(w.tokens)/int64(tokens)), int(int64(keep)*int64(w.tokens)/int64(tokens))
		}
		if text, reason, ok := c.shorten(); ok {
			why = reason
			f.Patches = append(f.Patches, patch{w.place, w.index, text, c.name, c.spelling})
			f.Refers = append(f.Refers, c.refers...)
			f.Now -= w.spent - p.spend(text, res.item)
		}
	}
	if len(f.Patches) > 0 {
		p.set(res.item, f, why)
	}
}

// recalled is the artifact that the result was asked for to show; empty if it shows none.
func (p *plan) recalled(res *result) string {
	for _, name := range res.cites {
		if p.artifactNames[name] {
			return name
		}
	}
	return ""
}

// cut shortens one text of a result.
type cut struct {
	*plan
	res *result
	passage
	limit    int // tokens above which it keeps only so many
	keep     int
	recalled string // the artifact that it shows

	name     string // of its own artifact
	spelling spelling
	refers   []int // items to which the text refers
}

// shorten is the text to send in this one's place, if that pays.
func (c *cut) shorten() (text, why string, ok bool) {
	shown := c.text
	of := ""
	if c.recalled == "" && c.tokens > c.screen {
		if s, changed := finalScreen(c.text); changed {
			shown, of = s, " of the final screen"
		}
	}
	switch {
	case c.tokens > c.limit && (of == "" || c.count(shown) > c.limit):
		text, why = c.excerpt(shown, of)
	case of != "":
		text, why = screenStub(shown, c.tokens, c.address()), "brought to the final screen"
	}
	if text == "" && c.recalled == "" && c.Repeats {
		text, why = c.references()
	}
	return text, why, text != "" && min(c.tokens-c.count(text), c.spent-c.spend(text, c.res.item)) >= leastSaving
}

// address says where the text is kept from now on, and names what it showed if it was read back itself.
func (c *cut) address() string {
	var content []byte
	content, c.spelling = keepsake(c.raw)
	c.name = c.shelf.Name(c.scope, content)
	return c.whereFor(c.res, c.name)
}

// headShare is what of an excerpt comes from the beginning: logs and the output of commands tell most at their end.
func (c *cut) headShare() float64 {
	if c.res.deed.kind == shell {
		return 0.2
	}
	return 0.5
}

// excerpt cuts a text that is over its limit.
func (c *cut) excerpt(shown, of string) (text, why string) {
	at := c.address()
	keep := c.keep
	if c.shelf.Address(c.name) == "" && c.recalled == "" { // nobody will look the rest up
		keep *= 2
	}
	if outline, ok := outlineOf(shown, keep, c.count); ok && c.recalled == "" {
		return outlineStub(&c.res.origin, outline, c.tokens, at), "over its limit"
	}
	e, ok := excerptOf(shown, keep, c.headShare(), c.count)
	if !ok {
		return "", ""
	}
	if c.recalled != "" {
		at += "; read it in ranges of lines"
	}
	return excerptStub(&c.res.origin, middle{e, linesIn(shown), of, at, namesIn(e.left, c.Names)}), "over its limit"
}

// references puts a line in the place of each block of lines that stands earlier in the conversation as it is sent.
func (c *cut) references() (text, why string) {
	const worthwhile = 400                                                // bytes
	if len(c.text) < worthwhile || c.hist.at[c.res.item] < c.hist.lined { // what is known stands behind this one, or is it
		return "", ""
	}
	c.learnLines(c.hist.at[c.res.item])
	found := c.hist.lines.repeats(c.text)
	if len(found) == 0 {
		return "", ""
	}
	var b strings.Builder
	at := 0
	for _, r := range found {
		b.WriteString(c.text[at:r.start])
		b.WriteString(referenceStub(&c.hist.results[c.hist.at[r.item]].origin, r))
		c.refers = append(c.refers, r.item)
		at = r.end
	}
	b.WriteString(c.text[at:])
	if s := b.String(); !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(mark + c.address() + "]")
	return b.String(), "lines stand in an earlier result"
}

// learnLines takes in the lines of the first n results, as far as they are sent whole.
func (p *plan) learnLines(n int) {
	h := p.hist
	for ; h.lined < n; h.lined++ {
		res := &h.results[h.lined]
		if p.forms[res.item] != nil {
			continue
		}
		if list, _ := p.passages(res.item); len(list) == 1 {
			h.lines.add(res.item, list[0].text)
		}
	}
}
