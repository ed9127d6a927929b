package rerun

import (
	"slices"
	"strings"
)

// fixer is a tool that says what is wrong with files, and mends that if it is told to: where it ends well then, nothing
// is wrong any more.
type fixer struct {
	call   []string
	checks []string // with which it only says it
	mends  []string // with which it mends it; none if it does so without checks
}

var fixers = []fixer{
	{[]string{"eslint"}, nil, []string{"--fix"}},
	{[]string{"stylelint"}, nil, []string{"--fix"}},
	{[]string{"ruff", "check"}, nil, []string{"--fix", "--unsafe-fixes"}},
	{[]string{"ruff", "format"}, []string{"--check", "--diff"}, nil},
	{[]string{"black"}, []string{"--check", "--diff"}, nil},
	{[]string{"isort"}, []string{"--check", "--check-only", "-c", "--diff"}, nil},
	{[]string{"prettier"}, []string{"--check", "-c", "--list-different", "-l"}, []string{"--write", "-w"}},
	{[]string{"biome", "check"}, nil, []string{"--write", "--fix", "--unsafe"}},
	{[]string{"biome", "format"}, nil, []string{"--write", "--fix"}},
	{[]string{"cargo", "fmt"}, []string{"--check", "--"}, nil},
	{[]string{"terraform", "fmt"}, []string{"-check", "-diff"}, nil},
	{[]string{"tofu", "fmt"}, []string{"-check", "-diff"}, nil},
	{[]string{"rubocop"}, nil, []string{"-a", "-A", "--autocorrect", "--autocorrect-all"}},
	{[]string{"mix", "format"}, []string{"--check-formatted"}, nil},
	{[]string{"dotnet", "format"}, []string{"--verify-no-changes"}, nil},
	{[]string{"dart", "format"}, []string{"--set-exit-if-changed", "--output=none"}, nil},
	{[]string{"npm", "run", "lint"}, nil, []string{"--fix", "--"}},
	{[]string{"yarn", "lint"}, nil, []string{"--fix"}},
	{[]string{"pnpm", "lint"}, nil, []string{"--fix"}},
}

// fixerOf is the tool that a call is of; nil if it is none.
func fixerOf(words []string) *fixer {
	for k := range fixers {
		if begins(words, fixers[k].call) {
			return &fixers[k]
		}
	}
	return nil
}

// Fixes reports whether a call mends all that an earlier one of the same tool said to be wrong.
func Fixes(now, before []string) bool {
	if areLong(now, before) {
		return false
	}
	now, before, isAlike := withoutSame(now, before)
	now, before = WithoutLaunchers(now), WithoutLaunchers(before)
	f := fixerOf(now)
	if f == nil || f != fixerOf(before) || !isAlike {
		return false
	}
	isMend := func(w string) bool { return slices.Contains(f.mends, w) }
	isCheck := func(w string) bool { return slices.Contains(f.checks, w) }
	if slices.ContainsFunc(now, isCheck) || len(f.mends) > 0 && !slices.ContainsFunc(now, isMend) {
		return false
	}
	isOwn := func(w string) bool { return isMend(w) || isCheck(w) }
	return slices.Equal(slices.DeleteFunc(slices.Clone(now), isMend), slices.DeleteFunc(slices.Clone(before), isOwn))
}

// Kind is equal for calls of which one may do what the other was to do, though their words differ: they push, or mend
// what one of them says. It is empty for others.
func Kind(words []string) string {
	if _, _, pushes := pushed(words); pushes {
		return "git push"
	}
	if len(words) > mostWords {
		return ""
	}
	_, words = Assignments(words)
	if f := fixerOf(WithoutLaunchers(words)); f != nil {
		return strings.Join(f.call, " ")
	}
	return ""
}
