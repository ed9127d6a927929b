package rerun

import (
	"slices"
	"strings"
)

// fixer is a tool that says what is wrong with files, and mends that if it is told to: where it ends well then, nothing
// is wrong any more.
type fixer struct {
	call   string
	checks []string // with which it only says it
	mends  []string // with which it mends it; none if it does so without checks
}

var fixers = []fixer{
	{"eslint", nil, []string{"--fix"}},
	{"stylelint", nil, []string{"--fix"}},
	{"ruff check", nil, []string{"--fix", "--unsafe-fixes"}},
	{"ruff format", []string{"--check", "--diff"}, nil},
	{"black", []string{"--check", "--diff"}, nil},
	{"isort", []string{"--check", "--check-only", "-c", "--diff"}, nil},
	{"prettier", []string{"--check", "-c", "--list-different", "-l"}, []string{"--write", "-w"}},
	{"biome check", nil, []string{"--write", "--fix", "--unsafe"}},
	{"biome format", nil, []string{"--write", "--fix"}},
	{"cargo fmt", []string{"--check", "--"}, nil},
	{"terraform fmt", []string{"-check", "-diff"}, nil},
	{"tofu fmt", []string{"-check", "-diff"}, nil},
	{"rubocop", nil, []string{"-a", "-A", "--autocorrect", "--autocorrect-all"}},
	{"mix format", []string{"--check-formatted"}, nil},
	{"dotnet format", []string{"--verify-no-changes"}, nil},
	{"dart format", []string{"--set-exit-if-changed", "--output=none"}, nil},
	{"npm run lint", nil, []string{"--fix", "--"}},
	{"yarn lint", nil, []string{"--fix"}},
	{"pnpm lint", nil, []string{"--fix"}},
}

// fixerOf is the tool that a call is of; nil if it is none.
func fixerOf(words []string) *fixer {
	for k := range fixers {
		call := strings.Fields(fixers[k].call)
		if len(words) >= len(call) && slices.Equal(words[:len(call)], call) {
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
		return f.call
	}
	return ""
}
