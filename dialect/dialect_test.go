package dialect

import "testing"

func TestDialectsAreToldByTheirBodies(t *testing.T) {
	f := func(name, body, want string) {
		t.Helper()
		if d, err := Of(name, []byte(body)); err != nil || d.Name() != want {
			t.Errorf("%q, %s: %v, %v; want %s", name, body, d, err, want)
		}
	}
	const plain, both = `{"messages":[{"role":"user","content":"a"}]}`,
		`{"system":"b","messages":[{"role":"system","content":"b"},{"role":"user","content":"a"}]}`
	f("", plain, "chat")
	f("", both, "messages")
	f("messages", plain, "messages")
	f("chat", both, "chat")
	f("", `{"messages":[{"role":"system","content":"b"}]}`, "chat")
	f("", `{"thinking":{"type":"enabled"},"tools":[{"type":"function","function":{"name":"ls"}}],"messages":[]}`,
		"chat")
	f("", `{"model":"m","input":[{"role":"user","content":"a"}]}`, "responses")
	f("", `hello`, "chat")
	if _, err := Of("latin", []byte(plain)); err == nil {
		t.Error("a dialect that nobody speaks")
	}
}
