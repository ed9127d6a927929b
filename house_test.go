package main_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The law of the house. Each row has its reason, and a broken row prints it.
// The checkers are in house_rules_test.go; house_self_test.go shows that each can fail.

// room is the place of one package folder: the packages of this project it may import, and why no others.
type room struct {
	imports string // folders, separated by spaces; "." is main
	why     string
}

// house has every package folder. Tests may import the scripted upstream, event and unit besides.
var house = map[string]room{
	".":                     {"bench console console/logs console/metrics demo event offload prose proxy rewrite scripted store store/disk store/memory summarize tokenize unit window", "main wires everything; nothing imports it, and no test code is linked into the program"},
	"bench":                 {"bench/sessions event proxy rewrite tokenize unit", "bench measures the very path that serves; what only tests use would measure something else"},
	"console":               {"", "what it shows of the program main plugs in, so it can never slow an exchange"},
	"console/logs":          {"event", "log lines are a fold over events; what else they told would be a second truth"},
	"console/metrics":       {"event", "metrics are a fold over events; what else they counted would be a second truth"},
	"bench/differ":          {"bench/sessions", "it compares builds from outside, on the wire and in files; with code of the one it is built from, it would judge by it"},
	"bench/sessions":        {"demo/props rewrite", "it reads or makes up conversations as their clients had them; with what shapes or counts them in it, they would suit what is measured"},
	"demo":                  {"demo/props tokenize", "agent and model see epitome from outside, on the wire and in files; what they would share with it they could not show of it"},
	"demo/props":            {"", "contents are text and dice; demo and bench play with the same ones, and neither may reach the other through them"},
	"event/eventtest":       {"event", "it is what tests of folds are fed with"},
	"event":                 {"", "event is plain data that every package may read; an import would make each of them depend on it"},
	"offload":               {"store", "a shelf keeps contents by name; with the conversation or the wire in it, it could not be trusted to hand back what it was given"},
	"proxy":                 {"event rewrite unit window", "proxy is one exchange on the wire; pages, storage and flags must be replaceable without touching the wire"},
	"bench/samples":         {"", "it is the program that makes the samples, and none of the program that counts them"},
	"summarize":             {"event prose store unit", "a summary is asked for by question and answer; what a conversation is and how bytes get upstream must be replaceable without touching its life"},
	"tokenize":              {"", "counting is pure: it knows neither wire nor store, so that everything may use it"},
	"prose":                 {"event", "it is what others ask and answer, as data; it has the cost of an answer from event, so that what is told needs no copy"},
	"rewrite":               {"event prose tokenize unit", "a conversation is bytes and counts; with a wire or a store in it, it could not be tested as a function; what it tells is an event already, as data, and has no translation to lose a field in"},
	"store":                 {"", "facts know nothing of who asks for them"},
	"store/disk":            {"store store/records", "what a store keeps its bytes in must be replaceable without touching what facts are"},
	"store/memory":          {"store store/records", "what a store keeps its bytes in must be replaceable without touching what facts are"},
	"store/records":         {"store", "it is the contract's reading for every store; knowing one of them, it would suit that one"},
	"store/storetest":       {"store", "it holds every store to the contract; knowing one of them, it would suit that one"},
	"scripted":              {"", "the scripted upstream stands for a foreign server; knowing the proxy's code, it would share its mistakes"},
	"scripted/scriptedtest": {"scripted", "it only ties the scripted upstream to package testing"},
	"sdk":                   {"", "the SDK test drives the built program from outside, as a user does"},
	"window":                {"unit", "what a model holds depends on its name, the configuration and what providers have said; who asks and what is rewritten for it must not matter"},
	"window/table":          {"", "it is the program that writes the table, and none of the program that reads it"},
	"unit":                  {"", "unit reads durations and sizes for every config; an import would make each of them depend on it"},
}

// forTests may be imported by any _test.go file.
const forTests = "event event/eventtest scripted scripted/scriptedtest store/disk store/memory store/storetest unit"

// ban keeps a library where it belongs. It does not reach test files.
type ban struct {
	library string // import path; what stands below it is meant too
	allowed string // folders, separated by spaces
	why     string
}

var bans = []ban{
	{"github.com/valyala/fasthttp", "proxy bench", "one package knows the wire and its traps; bench needs a bare fasthttp proxy as its baseline"},
	{"github.com/dgraph-io/badger", "store/disk", "facts must outlive the choice of a database"},
	{"github.com/prometheus", "console/metrics", "metrics are a fold over events; counters on the request path would be a second truth"},
	{"testing", "scripted/scriptedtest store/storetest", "package testing registers flags and weighs on the program; only test code needs it"},
}

// globals are the package-level variables that are neither constant tables nor sentinel errors, each with the reason it may be.
var globals = map[string]string{
	"proxy.heads":   "a pool holds spare buffers only; what is done with them does not depend on it",
	"proxy.rooms":   "a pool holds spare buffers only; what is done with them does not depend on it",
	"proxy.readers": "a pool holds spare buffers only; what is done with them does not depend on it",
}

func TestImportArrows(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkArrows(s, house))
	}
}

func TestLibrariesStayInTheirPlace(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkBans(s, bans))
	}
}

func TestBudgets(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		report(t, checkSizes(s))
	}
	report(t, checkTail(all))
}

func TestDocs(t *testing.T) {
	all := sources(t)
	report(t, checkPackageDocs(all))
	for _, s := range all {
		report(t, checkExportedDocs(s))
	}
}

func TestNames(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkTypeNames(s))
	}
}

func TestNoHiddenState(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		report(t, checkGlobals(s, globals))
	}
	report(t, checkAssigned(all, globals))
	for name := range globals {
		if !declared(all, name) {
			t.Errorf("the exception %s has no variable any more: take it out of the table", name)
		}
	}
}

// TestNamesNoWorkplace keeps the repository usable anywhere: no path and no host of the place it was written at.
func TestNamesNoWorkplace(t *testing.T) {
	for _, name := range files(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a tracked file that is being moved or removed
		}
		report(t, checkWorkplace(name, text))
	}
}

func report(t *testing.T, complaints []string) {
	t.Helper()
	for _, c := range complaints {
		t.Error(c)
	}
}

// sources parses every Go file of the module outside testdata folders, tests included.
func sources(t *testing.T) []*source {
	t.Helper()
	var all []*source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || len(name) > 1 && strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(name), text)
		if err != nil {
			return fmt.Errorf("cannot parse: %w", err)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go file found: the test runs in the wrong folder")
	}
	return all
}

// files lists what a commit would hold; without git, everything here.
func files(t *testing.T) []string {
	t.Helper()
	if out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output(); err == nil {
		return strings.Split(string(bytes.TrimRight(out, "\x00")), "\x00")
	}
	var all []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && entry.Type().IsRegular() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every promise names the tests that hold it; a name that no test has any more would be an empty promise.
func TestPromisesNameTestsThatExist(t *testing.T) {
	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)
	var code strings.Builder
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			text, _ := os.ReadFile(path)
			code.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"ARCHITECTURE.md", "docs/transparency.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		names := named.FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no test", doc)
		}
		for _, name := range names {
			if !strings.Contains(code.String(), "func "+name+"(") {
				t.Errorf("%s names %s, which no test is called", doc, name)
			}
		}
	}
}
