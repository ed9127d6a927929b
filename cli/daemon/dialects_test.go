package daemon

import "testing"

func TestDialectsAreToldByTheirBodies(t *testing.T) {
	f := func(name, body, want string, sure bool) {
		t.Helper()
		d, told, err := DialectOf(name, []byte(body))
		if err != nil || d.Name() != want || told != sure {
			t.Errorf("%q, %s: %s, sure %v, %v", name, body, d.Name(), told, err)
		}
	}
	const plain, both = `{"messages":[{"role":"user","content":"a"}]}`,
		`{"system":"b","messages":[{"role":"system","content":"b"},{"role":"user","content":"a"}]}`
	f("", plain, "chat", false)
	f("", both, "messages", true)
	f("messages", plain, "messages", true)
	f("chat", both, "chat", true)
	f("", `{"system":"b","messages":[{"role":"user","content":"a"}]}`, "messages", true)
	f("", `{"messages":[{"role":"system","content":"b"}]}`, "chat", true)
	const function = `"tools":[{"type":"function","function":{"name":"ls"}}],`
	f("", `{"thinking":{"type":"enabled"},`+function+`"messages":[{"role":"user","content":"a"}]}`, "chat", true)
	f("", `{"thinking":{"type":"disabled"},`+function+`"messages":[{"role":"user","content":"a"}]}`, "chat", true)
	f("", `{"model":"m","input":[{"role":"user","content":"a"}]}`, "responses", true)
	f("responses", `{"input":"a"}`, "responses", true)
	f("", `{"input":"a"}`, "responses", true)
	f("", `hello`, "chat", false)
	if _, _, err := DialectOf("latin", []byte(plain)); err == nil {
		t.Error("a dialect that nobody speaks")
	}
}
