package daemon

import "testing"

func TestDialectsAreToldByTheirBodies(t *testing.T) {
	f := func(name, body, want string) {
		t.Helper()
		d, err := DialectOf(name, []byte(body))
		if err != nil || d.Name() != want {
			t.Errorf("%q, %s: %v, %v; want %s", name, body, d, err, want)
		}
	}
	const plain, both = `{"messages":[{"role":"user","content":"a"}]}`,
		`{"system":"b","messages":[{"role":"system","content":"b"},{"role":"user","content":"a"}]}`
	f("", plain, "chat")
	f("", both, "messages")
	f("messages", plain, "messages")
	f("chat", both, "chat")
	f("", `{"system":"b","messages":[{"role":"user","content":"a"}]}`, "messages")
	f("", `{"messages":[{"role":"system","content":"b"}]}`, "chat")
	const function = `"tools":[{"type":"function","function":{"name":"ls"}}],`
	f("", `{"thinking":{"type":"enabled"},`+function+`"messages":[{"role":"user","content":"a"}]}`, "chat")
	f("", `{"thinking":{"type":"disabled"},`+function+`"messages":[{"role":"user","content":"a"}]}`, "chat")
	f("", `{"model":"m","input":[{"role":"user","content":"a"}]}`, "responses")
	f("responses", `{"input":"a"}`, "responses")
	f("", `{"input":"a"}`, "responses")
	f("", `hello`, "chat")
	if _, err := DialectOf("latin", []byte(plain)); err == nil {
		t.Error("a dialect that nobody speaks")
	}
}
