package sessions

import (
	"fmt"
	"slices"
	"strings"

	"epitome/internal/lazyregexp"
)

// A coding session: files are searched, read, edited and read again, tests are run, and now and then it comes back to
// what was done long before.

// coder makes up a coding session: its files, and the tickets that are done.
type coder struct {
	*maker
	files  map[string]string
	paths  []string // in order
	done   []job
	rename int // batches named so far
}

// job is one ticket.
type job struct {
	subject Subject
	ticket  string
	paths   []string
	trace   string // of the failed test
	line    string // the line that was edited last
	path    string // the file with line
}

var components = []string{"parser", "router", "cache", "billing", "quota", "export", "search", "mailer", "webhook",
	"catalog", "ledger", "session"}

func coding(m *maker) {
	m.system("You are a coding agent. " + Paragraph(m.d, 6) + "\nKeep to the rules that the user gives.")
	c := &coder{maker: m, files: map[string]string{}}
	m.user(fmt.Sprintf("We mend the %s before release %d.%d. Rule: no public name may change. Write the ticket's number into every commit.",
		Pick(m.d, components), 1+m.d.IntN(9), m.d.IntN(20)))
	m.tells("Understood. Which ticket is first?")
	for m.more() {
		c.ticket()
		if len(c.done) > 2 && m.d.IntN(2) == 0 {
			c.comeBack()
		}
	}
}

// begin makes the files of a component that was not seen yet.
func (c *coder) begin() job {
	name := components[len(c.done)%len(components)]
	s := Subject{Package: name, Symbol: "Round" + strings.ToUpper(name[:1]) + name[1:]}
	j := job{subject: s, ticket: fmt.Sprintf("BUG-%05d", c.d.IntN(100_000)),
		trace: fmt.Sprintf("tr-%08x", c.d.Uint32())}
	for _, part := range []string{name, "rules", "totals"} {
		path := fmt.Sprintf("internal/%s/%s.go", name, part)
		if c.files[path] == "" {
			c.files[path] = Source(c.d, s, 3+c.d.IntN(16))
			c.paths = append(c.paths, path)
		}
		j.paths = append(j.paths, path)
	}
	return j
}

func (c *coder) ticket() {
	j := c.begin()
	c.user(fmt.Sprintf("Ticket %s: %s is off by a cent when %s. %s",
		j.ticket, j.subject.Symbol, Reason(c.d), Paragraph(c.d, c.d.IntN(5))))
	c.does("Where is it used?", c.grep(j.subject.Symbol))
	if c.d.IntN(2) == 0 {
		c.does("", c.read(j.paths[0]), c.read(j.paths[1]))
	} else {
		c.does("The core first.", c.read(j.paths[0]))
	}
	c.edit(&j, j.paths[0])
	c.does("", step{"bash", arguments{"command": "go test -race -v ./internal/" + j.subject.Package + "/..."},
		Failing(c.d, j.subject, j.trace, c.newName)})
	c.does("Where does that trace come from?", step{"bash", arguments{"command": "grep -rn " + j.trace + " logs/"},
		fmt.Sprintf("logs/%s.log:%d: %s span=%08x\n", j.subject.Package, c.d.IntN(9000), j.trace, c.d.Uint32())})
	c.edit(&j, j.paths[c.d.IntN(len(j.paths))])
	if c.d.IntN(2) == 0 {
		c.does("Once more what stands there now.", c.read(j.path))
		c.edit(&j, j.path)
	}
	c.does("", step{"bash", arguments{"command": "go test -race ./internal/" + j.subject.Package + "/..."},
		Passing(c.d, j.subject)})
	if c.d.IntN(3) == 0 {
		c.service(j)
	}
	c.does("", step{"bash", arguments{"command": fmt.Sprintf("git commit -am '%s: %s'", j.ticket, Reason(c.d))},
		"1 file changed\n"})
	c.tells(fmt.Sprintf("Done: %s. %s rounds once, after the sum; the tests of %s pass.",
		j.ticket, j.subject.Symbol, j.path))
	c.done = append(c.done, j)
}

// comeBack has the user come back to an earlier ticket.
func (c *coder) comeBack() {
	j := c.done[c.d.IntN(len(c.done))]
	c.user(fmt.Sprintf("Back to %s for a moment: is that safe when %s?", j.ticket, Reason(c.d)))
	c.does("I look at what was logged then.",
		step{"bash", arguments{"command": "grep -c " + j.trace + " logs/" + j.subject.Package + ".log"}, "1\n"})
	if c.d.IntN(2) == 0 {
		c.does("", c.read(j.path))
	}
	c.replace(j.path, j.line)
	c.tells("It is now: " + j.path + " says why.")
}

// service asks the running service, and has it retry the batch that is stuck.
func (c *coder) service(j job) {
	stuck := ""
	answer := Batches(c.d, j.subject.Package, func(i int) string {
		name := c.newName(i)
		if i == StuckAt {
			stuck = name
		}
		return name
	})
	url := "http://" + j.subject.Package + ".internal/v1/batches"
	c.does("Does the service agree?", step{"http_request", arguments{"method": "GET", "url": url}, answer})
	c.does("One is stuck.", step{"http_request", arguments{"method": "POST", "url": url + "/" + stuck + "/retry"},
		`{"id":"` + stuck + `","state":"settled"}`})
}

// newName returns a name for something; each is another one.
func (c *coder) newName(int) string {
	c.rename++
	return fmt.Sprintf("bat_%06x%04d", c.d.IntN(1<<24), c.rename%10_000)
}

func (c *coder) read(path string) step {
	return step{"read_file", arguments{"path": path}, c.files[path]}
}

// grep prints where a word stands, up to 60 times.
func (c *coder) grep(word string) step {
	var b strings.Builder
	found := 0
	for _, path := range c.paths {
		for i, line := range strings.Split(c.files[path], "\n") {
			if strings.Contains(line, word) && found < 60 {
				found++
				fmt.Fprintf(&b, "%s:%d:%s\n", path, i+1, line)
			}
		}
	}
	return step{"grep", arguments{"pattern": word + `\(`, "path": "."}, b.String()}
}

var statement = lazyregexp.New(`^\t+\w+ := \w+\.\w+\(.*\)$`)

// edit changes a line of the file.
func (c *coder) edit(j *job, path string) {
	var lines []string
	for line := range strings.SplitSeq(c.files[path], "\n") {
		if statement().MatchString(line) {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		j.path, j.line = path, c.replace(path, lines[c.d.IntN(len(lines))])
	}
}

// replace puts a reason, or another one, behind a line of the file. It returns the line as it stands then.
func (c *coder) replace(path, line string) string {
	if !slices.Contains(strings.Split(c.files[path], "\n"), line) {
		return line
	}
	fresh := strings.Split(line, " // ")[0] + " // " + Reason(c.d)
	c.files[path] = strings.Replace(c.files[path], line, fresh, 1)
	c.does("", step{"edit_file", arguments{"path": path, "old_text": line, "new_text": fresh},
		"edited " + path + ": 1 replacement"})
	return fresh
}
