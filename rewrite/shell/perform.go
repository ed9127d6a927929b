package shell

import "strings"

// keywords takes what begins and ends compound commands from the front of a command's words. frames are the compound
// commands around it, without and with it. ok is false if it is not understood.
func (c *claims) keywords(p *pipeline, cmd *command, frames []frame) (inner []frame, ok bool) {
	for len(cmd.words) > 0 && cmd.words[0].bare {
		switch cmd.words[0].text {
		case "if", "while", "until", "{":
			frames = append(frames, frame{mark: p.mark})
		case "for", "select":
			cmd.words = nil
			return append(frames, frame{mark: p.mark}), true
		case "then", "else", "elif":
			if n := len(frames) - 1; n >= 0 && !frames[n].branch {
				frames[n].branch = true
				c.branches++
			}
		case "do":
		case "!":
			p.doubt = true
		case "fi", "done", "}":
			n := len(frames) - 1
			if n < 0 {
				cmd.words = nil
				return frames, false
			}
			c.leave(frames[n:])
			p.mark = frames[n].mark
			frames = frames[:n]
		case "case", "function", "esac":
			cmd.words = nil
			return frames, false
		default:
			return frames, true
		}
		cmd.words = cmd.words[1:]
	}
	return frames, true
}

// leave closes compound commands that have not ended.
func (c *claims) leave(frames []frame) {
	for _, f := range frames {
		if f.branch {
			c.branches--
		}
	}
}

// stage claims what a command of a pipeline does.
func (c *claims) stage(p *pipeline, cmd *command) {
	list := cmd.words
	for len(list) > 0 && assigns(list[0]) {
		list = list[1:]
	}
	list = withoutCallers(list)
	known := program{quiet: true, looks: true} // of no words at all
	if len(list) > 0 {
		known = programOf(list[0])
		p.test = asks(list)
	}
	through := p.stages > 0 && passes(known, list)
	if p.stages > 0 && !through {
		c.reads = c.reads[:p.mark]
	}
	held := c.branches
	if p.unsure {
		c.branches++
	}
	c.ask(p, cmd, list)
	looked, reported := c.looks, c.reports
	c.looks = true
	if len(list) > 0 {
		c.perform(known, list, cmd)
	}
	if c.strict || p.doubt || c.asks.Code() > 1 && !reported { // what acted before may have failed
		c.asks = NoQuestion
	}
	if cmd.input.sure && known.filter {
		c.show(cmd.input)
	}
	done := c.looks
	c.looks = true
	c.save(cmd.outs...)
	c.reports, c.looks = c.reports && c.looks, c.looks && done
	c.branches = held
	if cmd.hidden {
		c.reads = c.reads[:p.mark]
	}
	if known.job != inviting { // what that reads has told it
		c.reports = c.reports && c.looks && (known.looks || isReport(list))
	}
	c.looks = looked && c.looks && known.looks
	unseen := known.quiet || cmd.hidden || c.muted > 0
	if !unseen && !through && !c.showsFiles(known) {
		c.only = false
	}
	c.bare = c.bare || !unseen && known.job != inviting && !showsNumbers(list, through)
}

// ask takes what a command of a pipeline asks. list are its words, those of its callers left out.
func (c *claims) ask(p *pipeline, cmd *command, list []token) {
	c.asks, p.fails = questionOf(list), cmd.redirected || !cannotSayNo(list)
	if len(list) > 0 {
		c.strict = c.strict || mayEndAll(list[0].text)
	}
	if c.muted == 0 && (len(cmd.words) > 0 || cmd.group) {
		c.shared = c.shared || c.ran || cmd.redirected || len(list) < len(cmd.words)
		c.ran = true
	}
}

// showsFiles reports whether what a command shows are files of which all are known.
func (c *claims) showsFiles(known program) bool {
	switch known.job {
	case showing, scripted, windows:
		return !c.vague
	case inviting: // what it reads has claimed that itself
		return true
	}
	return false
}

// perform claims the files of one command. list are its words, those of its callers left out.
func (c *claims) perform(known program, list []token, cmd *command) {
	args := list[1:]
	switch known.job {
	case showing:
		c.vague = true
		rest, _ := operands(args, known.values, "")
		c.showAll(rest)
	case scripted:
		c.runProgram(known, list[0].text, args)
	case removing:
		rest, _ := operands(args, known.values, "")
		c.remove(rest...)
	case joining, changing:
		rest, _ := operands(args, known.values, "")
		c.save(rest...)
	case copying, moving:
		c.transfer(known, args)
	case versions:
		c.git(args, cmd)
	case patching:
		for _, w := range args {
			c.patch(w.text)
		}
		c.patch(cmd.body)
	case going:
		c.enter(args)
	case inviting:
		c.invite(args)
	case windows:
		rest := windowsFiles(args)
		c.vague = len(rest) == 0 || !rest[0].sure || !strings.ContainsAny(rest[0].text, `./\`)
		if !c.vague {
			c.show(rest[0])
		}
	case windowsTo:
		if rest := windowsFiles(args); len(rest) > 0 {
			c.save(rest[0])
		}
	case noFiles:
		c.looks = c.looks && !acts(list)
	}
}

// runProgram is for sed, awk and perl: they show files, or with an option change them in place.
func (c *claims) runProgram(known program, name string, args []token) {
	c.vague = true
	perl, awk := strings.HasSuffix(name, "perl"), strings.HasSuffix(name, "awk")
	rest, o := operands(args, known.values, "i")
	inPlace := o.has('i')
	if inPlace && !perl && len(rest) > 0 && rest[0].text == "" && rest[0].sure {
		rest = rest[1:] // BSD's sed wants an ending for copies
	}
	if given := o.has('f') || o.has('e') || perl && o.has('E'); !given {
		rest = rest[min(1, len(rest)):] // the program
	}
	switch {
	case inPlace && awk:
		c.looks = false
	case inPlace:
		c.save(rest...)
	case !perl:
		c.showAll(rest)
	}
}

// git claims what git writes without a doubt: files that are named. A change of branch, a merge or a stash names none.
func (c *claims) git(args []token, cmd *command) {
	held := c.folder
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		n := 1
		if args[0].text == "-C" || args[0].text == "-c" {
			n = min(2, len(args))
		}
		if args[0].text == "-C" {
			c.enter(args[1:n])
		}
		args = args[n:]
	}
	if len(args) > 0 {
		c.gitCommand(args[0].text, args[1:], cmd)
	}
	c.folder = held
}

// gitCommand claims what the command of git with that name writes.
func (c *claims) gitCommand(name string, args []token, cmd *command) {
	switch name {
	case "status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "grep", "describe", "cat-file", "ls-tree",
		"merge-base", "rev-list", "shortlog", "ls-remote", "name-rev", "whatchanged":
		return
	}
	if gitLists(name, args) {
		return
	}
	c.looks = false
	rest, o := operands(args, "s", "")
	switch name {
	case "mv":
		c.transfer(program{job: moving}, args)
	case "rm":
		if !gives(args, "--cached") && !gives(args, "--dry-run") && !o.has('n') {
			c.remove(rest...)
		}
	case "checkout":
		for i, w := range args {
			if w.text == "--" {
				c.save(args[i+1:]...)
				break
			}
		}
	case "restore":
		if !o.has('S') && !gives(args, "--staged") || o.has('W') || gives(args, "--worktree") {
			c.save(rest...)
		}
	case "apply":
		if !gives(args, "--check") && !gives(args, "--cached") && !gives(args, "--stat") {
			c.patch(cmd.body)
		}
	}
}

// invite reads the text that another shell is given.
func (c *claims) invite(args []token) {
	if len(args) < 2 || !TakesCommands(args[0].text) || !args[1].sure || c.level == deepestShell {
		c.only, c.looks, c.reports = false, false, false
		return
	}
	inner := newScript(claims{
		reads: c.reads, writes: c.writes, gone: c.gone, only: true, looks: true, reports: true,
		folder: c.folder, muted: c.muted, branches: c.branches, level: c.level + 1, steps: c.steps,
	})
	inner.readText(args[1].text)
	c.reads, c.writes, c.gone = inner.does.reads, inner.does.writes, inner.does.gone
	c.steps = inner.does.steps
	c.only, c.looks = c.only && inner.showsOnly(), c.looks && inner.looksOnly()
	c.reports = c.reports && inner.reportsOnly()
	c.bare = c.bare || inner.does.bare
	c.full = c.full || inner.does.full
	c.shared = c.shared || inner.does.shared
	if c.asks = inner.does.asks; inner.words.lost || strings.Contains(args[0].text, "e") {
		c.asks = NoQuestion // with an e, what fails ends it all
	}
}
