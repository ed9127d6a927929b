package line_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/cli/line"
)

// What is wrong with a struct shows when its command is looked at, which a test of the program does.
func TestFlawsAreFound(t *testing.T) {
	f := func(target any, want string) {
		t.Helper()
		defer func() {
			if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
				t.Errorf("%T: %s, want %s", target, got, want)
			}
		}()
		for _, c := range line.New(line.About{Name: "prog"}, target).Commands() {
			c.Flags()
		}
	}
	f(&grammar{}, "<nil>")
	f(&struct {
		A bool
		B bool `name:"a"`
	}{}, "BUG: the command line is not well-formed: : there are two flags --a")
	f(&struct {
		A bool
		B struct{ A bool } `cmd:""`
	}{}, "b: there are two flags --a")
	f(&struct {
		A struct{} `cmd:""`
		B struct{} `cmd:"" name:"a"`
	}{}, "there are two commands a")
	f(&struct {
		A string   `arg:""`
		B struct{} `cmd:""`
	}{}, "it has arguments and commands")
	f(&struct {
		A []string `arg:""`
		B string   `arg:""`
	}{}, "<b> cannot stand behind <a> ...")
	f(&struct {
		A string `arg:"" optional:""`
		B string `arg:""`
	}{}, "<b> cannot stand behind [<a>]")
	f(&struct{ A int32 }{}, "--a is of type *int32, which nothing reads")
	f(&struct {
		A int `short:"a" default:"1"`
	}{}, "--a takes a value, and has a short name")
	f(&struct {
		A int `enum:"1,2" default:"1"`
	}{}, "--a has an enum, and is no string")
	f(&struct {
		A string `enum:"x,y" default:"z"`
	}{}, "--a has an enum, and its default is not in it")
	f(&struct {
		A string `enum:"x,y" placeholder:"A"`
	}{}, "--a has an enum, and its default is not in it")
	f(&struct{ A string }{}, "--a has neither a placeholder nor a default to show")
}

func TestOnlyWhatIsAskedForIsRead(t *testing.T) {
	program := line.New(line.About{Name: "prog"}, &struct {
		Good struct{}            `cmd:""`
		Bad  struct{ Bad int32 } `cmd:""`
	}{})
	parsed, err := program.Parse([]string{"good"})
	if err != nil || parsed.Command.Path() != "good" {
		t.Errorf("%+v, %v", parsed, err)
	}
}
