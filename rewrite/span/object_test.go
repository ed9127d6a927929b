package span

import (
	"encoding/json"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

func TestMembersAreSetAndTakenOutAndAllElseStays(t *testing.T) {
	f := func(body, want string, change func(o *Object)) {
		t.Helper()
		at := SkipSpace([]byte(body), 0)
		o, err := ObjectAt([]byte(body), at)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		change(o)
		if got, err := Splice([]byte(body), o.Edits()); err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
	f(`{"a":1}`, `{"a":1}`, func(*Object) {})
	f(` { "a" : 1 , "b":2 } `, ` { "a" : 10 , "b":2,"c":3 } `, func(o *Object) { o.Set("a", "10"); o.Set("c", "3") })
	f(`{"a":1, "b":2 , "c":3}`, `{"b":2}`, func(o *Object) { o.TakeOut("a", "c", "d") })
	f(`{"a":1, "b":2 , "c":3}`, `{"a":1, "c":3}`, func(o *Object) { o.TakeOut("b") })
	f(`{"a":1, "b":2 }`, `{ }`, func(o *Object) { o.TakeOut("a", "b") })
	f(`{"a":1, "b":2 }`, `{"c":3,"d":4 }`, func(o *Object) { o.TakeOut("a", "b"); o.Set("c", "3"); o.Set("d", "4") })
	f(`{ }`, `{ "a":1}`, func(o *Object) { o.Set("a", "1") })
	f(`{}`, `{}`, func(o *Object) { o.TakeOut("a") })
	f(`{"a":{"b":"}"},"c":1}`, `{"a":{"b":"}"}}`, func(o *Object) { o.TakeOut("c") })
	f(`{"a":1}`, `{"a":2}`, func(o *Object) { o.TakeOut("a"); o.Set("a", "2") })
}

func TestKeysAreTakenOutOfAnObjectInTheObject(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		o, err := WholeObject([]byte(body))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if err := o.TakeOutIn([]byte(body), "a", "b"); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got, err := Splice([]byte(body), o.Edits()); err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
	f(` {"c":1,"a":{ "b":{}, "d":2 }}`, ` {"c":1,"a":{ "d":2 }}`)
	f(`{"a":{"b":1}}`, `{"a":{}}`)
	f(`{"a":{"d":1}}`, `{"a":{"d":1}}`)
	f(`{"a":[],"b":1}`, `{"a":[],"b":1}`)
	f(`{"b":1}`, `{"b":1}`)
}

func TestWhatIsNoObjectHasNoMembers(t *testing.T) {
	for _, body := range []string{``, `[]`, `null`, `{"a":1,"a":2}`, `{"a\u0061":1}`, `{"a":`} {
		if _, err := ObjectAt([]byte(body), 0); err == nil {
			t.Errorf("%q is read", body)
		}
		if _, err := WholeObject([]byte(body)); err == nil {
			t.Errorf("%q is read as a whole", body)
		}
	}
}

func TestObjectsStayJSONWhateverIsChanged(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.SampledFrom(names), rapid.IntRange(0, 9)).Draw(t, "members")
		body, _ := json.MarshalIndent(values, "", " ")
		o, err := ObjectAt(body, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "changed") {
			if rapid.Bool().Draw(t, "sets") {
				values[key] = 10
				o.Set(key, "10")
			} else {
				delete(values, key)
				o.TakeOut(key)
			}
		}
		out, err := Splice(body, o.Edits())
		var got map[string]int
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s becomes %s (%v)", body, out, err)
		}
		if !maps.Equal(got, values) {
			t.Fatalf("%s becomes %s, want %v", body, out, values)
		}
	})
}
