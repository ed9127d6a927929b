package decision

// Memory is about how many bytes the forms take.
func (d *Decision) Memory() (n int) {
	const perForm, perPatch = 200, 80
	for _, f := range d.Forms {
		if f == nil {
			continue
		}
		n += perForm + len(f.With) + len(f.Prose) + len(f.Said) + 8*len(f.Refers)
		for _, q := range f.Patches {
			n += perPatch + len(q.Text) + len(q.Artifact) + len(q.Readable)
		}
	}
	return n
}
