package rewrite

// Bounds are what the limits come to at one window, in the model's tokens unless it says otherwise.
type Bounds struct {
	Floor         int `json:"floor"`               // bytes of body below which nothing new is done
	Offload       int `json:"offload_tokens"`      // of a result, above which rung 1 cuts it
	OffloadKeep   int `json:"offload_keep"`        // and what it keeps
	OffloadReads  int `json:"offload_read_tokens"` // the same for file reads
	ReadsKeep     int `json:"offload_read_keep"`
	Clear         int `json:"clear_at"`       // of the request, above which rung 2 acts
	ClearAtLeast  int `json:"clear_at_least"` // if it frees this much
	Prepare       int `json:"prepare_at"`     // of the request, above which a model is asked for a summary ahead of need, if one is asked
	Compact       int `json:"compact_at"`     // of the request, above which rung 3 acts
	CompactTo     int `json:"compact_to"`     // and what it brings it to
	KeepTail      int `json:"keep_tokens"`    // of the newest groups
	Protect       int `json:"protect_tokens"` // of the newest results
	ProtectGroups int `json:"protect_groups"` // newest groups
}

// At is what the limits come to at a window of so many tokens, of which usable may be filled.
func (l *Limits) At(window, usable int) Bounds {
	s := l.at(window, usable, 1)
	return Bounds{
		Floor: s.floor(), Offload: s.offload, OffloadKeep: s.keep, OffloadReads: s.reads, ReadsKeep: s.readsKeep,
		Clear: s.clearLine, ClearAtLeast: s.atLeast,
		Prepare: s.prepareLine, Compact: s.compactLine, CompactTo: int(s.Target * float64(s.usable)), KeepTail: s.keepTail, Protect: s.protect, ProtectGroups: s.age,
	}
}

// Standing is the form of every item that is not sent whole, in their order: those of the report's changes, and those that
// were decided earlier, which have no reason. What stands in another item's
// form is not told again. r is the request as it came.
func (s Shaped) Standing(r *Request) []Change {
	if len(s.forms) == 0 {
		return nil
	}
	made := map[int]Change{}
	for _, c := range s.Report.Changes {
		made[c.Item] = c
	}
	calls := map[string]origin{} // of the last assistant's message, by id
	var list []Change
	for i, f := range s.forms {
		it := &r.Items[r.Head+i]
		if it.Role == Assistant {
			clear(calls)
		}
		for _, c := range it.Calls {
			calls[idOf(it, c)] = origin{name: c.Name, deed: deedOf(c.Name, said(c.Arguments.Of(r.Body)), c.FreeText)}
		}
		if f == nil || f.Gone {
			continue
		}
		c, ok := made[r.Head+i]
		if !ok {
			c = s.stands(f, calls[answered(it)])
			c.Item = r.Head + i
		}
		list = append(list, c)
	}
	return list
}

// stands is a change that was made earlier.
func (s Shaped) stands(f *form, o origin) Change {
	c := Change{Rung: f.Rung.String(), Tool: o.name, Argument: o.deed.key}
	c.Before, c.After = int(float64(f.Whole)*s.ratio), int(float64(f.Now)*s.ratio)
	if names := f.artifacts(); len(names) > 0 {
		c.Artifact = names[0]
	}
	return c
}
