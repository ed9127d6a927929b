package config

import (
	"testing"
)

func TestScopeIsOneOfThese(t *testing.T) {
	f := refusals(t)
	for _, good := range []string{"auto", "credential", "shared", "header:X-Team", "header:x-epitome-team"} {
		f(`scope = "`+good+`"`, "")
	}
	for _, bad := range []string{"", "Auto", "header", "header:", "header:a b", "header: x", "header:x:"} {
		f(`scope = "`+bad+`"`, `cannot use scope "`+bad+`": write auto, credential, shared, or header:NAME with the name of a header`)
	}
}
