package fakeapi

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// filePrefix marks an archive member as data.
const filePrefix = "file:"

// A Script is a parsed archive. It is not changed by being played and may be
// started any number of times.
type Script struct {
	sections []*section
}

// reading says when the body of a request is read.
type reading int

const (
	readFirst reading = iota // before anything is played
	readAfter                // early
	readNever                // stop-reading
)

// section is what is done with one request.
type section struct {
	name   string // as in the archive
	method string // "*" for any
	target string // a prefix when it ends in "*"
	line   int    // of its marker in the archive, from 1

	repeat        bool
	closes        bool // the connection is not kept after the answer
	reading       reading
	slowBytes     int           // most that is read at a time; 0 for no limit
	slowPause     time.Duration // after each such read
	sendsContinue bool          // an interim 100 is among the steps

	headChecks []check
	bodyChecks []check
	steps      []step
}

// check judges a request and returns what is wrong with it, or "".
type check struct {
	line  int
	judge func(*Request) string
}

// step is one played line.
type step struct {
	line int
	do   func(*play) error
}

func (s *section) String() string { return fmt.Sprintf("%s (line %d)", s.name, s.line) }

func (s *section) matches(method, target string) bool {
	if s.method != "*" && s.method != method {
		return false
	}
	if prefix, ok := strings.CutSuffix(s.target, "*"); ok {
		return strings.HasPrefix(target, prefix)
	}
	return s.target == target
}

// Parse reads a script. It keeps no part of archive. An error names the section
// and the line of the archive.
func Parse(archive []byte) (*Script, error) {
	ar := txtar.Parse(bytes.Clone(archive))
	files, err := readFiles(ar)
	if err != nil {
		return nil, err
	}
	s := &Script{}
	line := bytes.Count(ar.Comment, []byte("\n")) + 1
	for _, f := range ar.Files {
		if !strings.HasPrefix(f.Name, filePrefix) {
			sec, err := parseSection(f, line, files)
			if err != nil {
				return nil, err
			}
			s.sections = append(s.sections, sec)
		}
		line += bytes.Count(f.Data, []byte("\n")) + 1
	}
	return s, s.reachable()
}

// readFiles returns the data files of an archive.
func readFiles(ar *txtar.Archive) (archiveFiles, error) {
	files := archiveFiles{}
	for _, f := range ar.Files {
		name, ok := strings.CutPrefix(f.Name, filePrefix)
		if !ok {
			continue
		}
		if _, twice := files[name]; twice {
			return nil, fmt.Errorf("%s: there are two files of this name", f.Name)
		}
		files[name] = f.Data
	}
	return files, nil
}

// reachable reports a section that stands after a repeating one of the same name.
func (s *Script) reachable() error {
	repeats := map[string]int{}
	for _, sec := range s.sections {
		key := sec.method + " " + sec.target
		if line, ok := repeats[key]; ok {
			return fmt.Errorf("section %q, line %d: never played, since the one in line %d repeats",
				sec.name, sec.line, line)
		}
		if sec.repeat {
			repeats[key] = sec.line
		}
	}
	return nil
}

func parseSection(f txtar.File, line int, files archiveFiles) (*section, error) {
	words := strings.Fields(f.Name)
	if len(words) != 2 {
		return nil, fmt.Errorf("section %q, line %d: the name must be a method and a target, or begin with %q",
			f.Name, line, filePrefix)
	}
	b := &builder{
		sec:   &section{name: f.Name, method: words[0], target: words[1], line: line},
		files: files,
	}
	for text := range strings.Lines(string(f.Data)) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		b.line = line
		if err := b.command(text); err != nil {
			return nil, fmt.Errorf("section %q, line %d: %w", f.Name, line, err)
		}
	}
	if err := b.finish(); err != nil {
		return nil, fmt.Errorf("section %q, line %d: %w", f.Name, b.sec.line, err)
	}
	return b.sec, nil
}
