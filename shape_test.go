package main

import (
	"testing"
)

func TestScopesHaveNamesThatTellNothing(t *testing.T) {
	one := scopeName([]byte("secret"), "credential", "Bearer k")
	if one != scopeName([]byte("secret"), "credential", "Bearer k") || len(one) != 32 {
		t.Errorf("the scope is %q, and not always", one)
	}
	for name, other := range map[string]string{
		"secret": scopeName([]byte("another"), "credential", "Bearer k"), "kind": scopeName([]byte("secret"), "header:x", "Bearer k"),
		"value": scopeName([]byte("secret"), "credential", "Bearer l"), "shared": "",
	} {
		if one == other {
			t.Errorf("another %s gives the same scope", name)
		}
	}
}

func TestScopeIsOneOfThese(t *testing.T) {
	f := refusals(t)
	for _, good := range []string{"auto", "credential", "shared", "header:X-Team", "header:x-epitome-team"} {
		f(`scope = "`+good+`"`, "")
	}
	for _, bad := range []string{"", "Auto", "header", "header:", "header:a b", "header: x", "header:x:"} {
		f(`scope = "`+bad+`"`, `cannot use scope "`+bad+`": write auto, credential, shared, or header:NAME with the name of a header`)
	}
}
