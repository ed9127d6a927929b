// Package shell reads command lines for the files that they show and change.
//
// It promises to claim only what is sure: behind a variable, a wildcard, an unknown command or text that is no shell,
// it claims nothing. It runs nothing and looks at no disk. Which commands of a line were run, and whether a later line
// did the same again, is another question, for which a word may stand for what is not known: package step parts a line
// for that.
package shell

// Effects are what commands do with files, as far as their text tells. What is not sure is left out.
type Effects struct {
	Reads  []string // files whose content is shown
	Writes []string // files that are written, moved or deleted
	Gone   []string // of them, those that are not there any more
	Only   bool     // what is shown are the files of Reads and nothing else
	Looks  bool     // nothing is changed
	// Reports says that nothing is done but to look, and to ask programs how things stand, such as a cluster.
	Reports bool
	// Numbered says that each line of Reads is shown with the number that it has in its file.
	Numbered bool
	Asks     Question // last, so that the exit code 1 of all of it says no if nothing is shown
	Alone    bool     // what asks is all that is done
	Work     int      // what reading the commands has cost: one is a value of JSON, read a few times
}

// EffectsOf reads a command that runs in the folder dir: its words, or lines of text. dir is empty where the folder is
// not known.
func EffectsOf(dir string, words, lines []string) Effects {
	s := newScript(claims{only: true, looks: true, reports: true, folder: folder{path: dir}})
	if len(words) > 0 {
		s.readWords(words)
	}
	for _, line := range lines {
		s.readText(line)
	}
	e := Effects{Reads: s.does.reads, Writes: s.does.writes, Gone: s.does.gone, Looks: s.looksOnly(),
		Reports: s.reportsOnly(), Work: workOfStep * s.does.steps}
	if s.does.full {
		e.Reads = nil
	}
	e.Only = len(e.Reads) > 0 && s.showsOnly()
	e.Numbered = e.Only && !s.does.bare
	if !s.words.lost {
		e.Asks, e.Alone = s.does.asks, !s.does.shared
	}
	return e
}
