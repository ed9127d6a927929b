// Package errand tells apart the things that one call does, so that a later call can be known to have done one of them
// again: the commands of a command line in the folder where they run, the files of a tool that writes, the one thing
// that any other tool does with its values.
//
// It promises that what is not sure to be the same is another errand, and that of very many in one call it makes one:
// each is held against others. Whether one run of a program does all that another one did is told by package rerun.
package errand

import (
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/recap/checkout"
	"epitome/rewrite/recap/deed"
	"epitome/rewrite/recap/rerun"
	"epitome/rewrite/span"
)

// Errand is one thing that a call does, so that a later call can be known to do it again.
type Errand struct {
	Words  []string // the program, its assignments, options and targets; without where its output goes
	Place  string   // the folder and the environment in which it runs
	Work   string   // what git has in that folder; empty where that does not matter, or was never changed
	Folder string   // likewise, if each call begins where the call before ended; empty if it is not known
	Sought string   // a folder that the shell was to enter for it and did not find: nothing was run
	Whole  string   // the whole call
	Hidden bool     // the call's exit state is not that of the errand
	Shown  bool     // what it puts out is the end of what the call does
	CutAt  int      // how many lines of what it puts out the call shows; 0 if it is not their number that counts
	Unseen bool     // what it puts out goes somewhere else, in part or all of it
	Waits  bool     // it is an operation of git that began, and waits for what its output asks for
	Lacks  bool     // its output says that nothing was set for it to work on, or to push to
	Row    int      // equal for those of which each runs only if all before it have succeeded

	Like  string // equal for calls that do one thing with other values: of one tool, none of files, with one key
	Looks bool   // such a tool only looks, by its name
}

// IsWhere reports whether e runs where other ran: in its folder and environment, on the same work, or on what became of
// that with its changes.
func (e *Errand) IsWhere(other *Errand) bool {
	was, is := other.Work, e.Work
	if other.Lacks {
		was, is = withoutTarget(was), withoutTarget(is)
	}
	return e.Place == other.Place && checkout.IsPartOf(was, is)
}

// Covers reports whether a call that did e has done what other is.
func (e *Errand) Covers(other *Errand) bool {
	if slices.Equal(e.Words, other.Words) && (e.IsWhere(other) || e.isIn(other.Sought)) {
		return true
	}
	return e.IsWhere(other) && (rerun.Covers(e.Words, other.Words) || rerun.Commits(e.Words, other.Words) ||
		rerun.Makes(e.Words, other.Words) || rerun.Fixes(e.Words, other.Words) ||
		rerun.Pushes(e.Words, other.Words, other.Lacks) ||
		other.Waits && rerun.Concludes(e.Words, other.Words) ||
		slices.Equal(rerun.Bare(e.Words), rerun.Bare(other.Words)))
}

// isIn reports whether e runs in a folder that was sought before, from wherever that was.
func (e *Errand) isIn(sought string) bool {
	return sought != "" && (e.Folder == sought || strings.HasSuffix(e.Folder, "/"+sought))
}

// Succeeds reports whether a later call which did e and ended so has succeeded in what failed. then is how the call
// ended that failed.
func (e *Errand) Succeeds(now *ending.Ending, failed *Errand, then *ending.Ending) bool {
	switch {
	case e.Looks: // what it shows is its answer
		return !now.Failed()
	case !now.Succeeded():
		isBadByWords := then.Claims == excerpt.Failed // which would stand there again
		return !e.Hidden && isMarkedWell(now) && (then.Said == conversation.WentWrong || isBadByWords)
	case !e.Hidden:
		return true
	case now.Claims == excerpt.Succeeded:
		return e.Shown || e.Whole == failed.Whole
	}
	return e.Whole == failed.Whole && then.Code > 0
}

// isMarkedWell reports whether a client says of a result that it is no error, and nobody says more.
func isMarkedWell(e *ending.Ending) bool {
	return e.TellsNoError() && e.Said == conversation.WentWell
}

// KeyAnywhere is equal for two errands of which one may have done what the other was to do in a folder that the shell
// did not find.
func (e *Errand) KeyAnywhere() string { return "\x00sought\x00" + strings.Join(e.Words, "\x00") }

// Keys are equal for two errands of which one may cover the other, or tell of it; but for KeyAnywhere, which only what
// sought its folder is looked up by.
func (e *Errand) Keys() []string {
	keys := []string{e.Place + "\x00" + strings.Join(e.Words, "\x00")}
	if e.Sought != "" {
		keys = append(keys, e.KeyAnywhere())
	}
	if e.Like != "" {
		keys = append(keys, e.Like)
	}
	// One run may be of all that the other is of.
	where, words := rerun.Machine(e.Words)
	if _, ok := rerun.PytestOf(words); ok {
		keys = append(keys, e.Place+"\x00pytest\x00"+where)
	} else if _, words = rerun.Assignments(words); len(words) > 1 && words[0] == "go" {
		keys = append(keys, e.Place+"\x00go\x00"+where+"\x00"+words[1])
	}
	if bare := rerun.Bare(e.Words); len(bare) < len(e.Words) {
		keys = append(keys, e.Place+"\x00"+strings.Join(bare, "\x00"))
	}
	if rerun.Operation(e.Words) != "" {
		keys = append(keys, e.Place+"\x00git")
	}
	if kind := rerun.Kind(e.Words); kind != "" {
		keys = append(keys, e.Place+"\x00"+kind+"\x00")
	}
	return keys
}

// CountWords counts the words of errands.
func CountWords(list []Errand) (n int) {
	for k := range list {
		n += len(list[k].Words)
	}
	return n
}

// OfFiles are what a call of a tool does that writes files.
func OfFiles(written []string) (list []Errand) {
	for _, file := range written {
		list = append(list, Errand{Words: []string{"write", file}})
	}
	return list
}

// OfTool is what a call does of a tool that is none of files and shells: the same only with the same values, numbers
// and all. key tells calls of the tool apart in a few words.
func OfTool(name, key string, arguments []byte) Errand {
	e := Errand{Words: []string{name, key}, Like: name + "\x00" + key, Looks: deed.Looks(name, arguments)}
	if at := span.SkipSpace(arguments, 0); at < len(arguments) && span.Valid(arguments) {
		if _, sum, err := span.Digest(arguments, at, nil); err == nil {
			e.Words[1] = string(sum[:])
		}
	}
	return e
}
