package verb

import (
	"strings"
	"testing"
)

func TestAsksOfARecordAndOfAFinding(t *testing.T) {
	f := func(name string, wantAsks, wantCheck bool) {
		t.Helper()
		if asks, isCheck := Asks(name); asks != wantAsks || isCheck != wantCheck {
			t.Errorf("%s: asks %v, is a check %v", name, asks, isCheck)
		}
	}
	f("get_job", true, false)
	f("check_health", true, true)
	f("lintSchema", true, true)
	f("pay", false, false)
	f("get_and_delete", false, false)
}

// A name is as long as its caller likes. No more than its end is read.
func TestLongNamesAreReadInPart(t *testing.T) {
	name := strings.Repeat("a_B_", 1_000_000) + "__get_job"
	looks := false
	if n := testing.AllocsPerRun(1, func() { looks, _ = Looks(name) }); n > 100 || !looks {
		t.Errorf("%.0f allocations, looks: %v", n, looks)
	}
}

func TestWritesByAnyOfTheStatements(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, ";": false, "-- drop": false, "/* drop": false, "é": false, "((select 1))": false,
		"select 1; -- b\n select drop from t": false, "explain select updated from t": false,
		"with a as (select 1) select * from b where c = 'x'": false,
		"select 1;;drop table t":                             true, "/* a */ # b\n Update t set a = 1": true, "explain analyze\nDELETE FROM t": true,
		"with a as (select 1) merge into b": true, "SELECT a INTO b FROM c": true, "mutation Pay { id }": true,
	} {
		if Writes(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
