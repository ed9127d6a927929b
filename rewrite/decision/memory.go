package decision

// Memory is about how many bytes the forms take.
func (d *Decision) Memory() (n int) {
	const perForm, perPatch = 200, 80
	for _, f := range d.Forms {
		if f == nil {
			continue
		}
		n += perForm + len(f.With) + len(f.Prose) + len(f.Said)
		for _, q := range f.Patches {
			n += perPatch + len(q.Text) + len(q.Artifact) + len(q.Readable)
		}
	}
	return n
}

// Of are the texts of a decision's forms alone.
func (s Spelled) Of(d *Decision) Spelled {
	n := 0
	for _, f := range d.Forms {
		if f != nil {
			n += len(f.Patches)
		}
	}
	if len(s) <= n {
		return s
	}
	still := make(Spelled, n)
	for _, f := range d.Forms {
		for k := range patchesOf(f) {
			if with, ok := s[&f.Patches[k]]; ok {
				still[&f.Patches[k]] = with
			}
		}
	}
	return still
}

func patchesOf(f *Form) []Patch {
	if f == nil {
		return nil
	}
	return f.Patches
}

// Memory is how many bytes the texts take, about.
func (s Spelled) Memory() (n int) {
	const perText = 48
	for _, with := range s {
		n += perText + cap(with)
	}
	return n
}
