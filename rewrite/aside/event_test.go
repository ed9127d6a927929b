package aside

import "testing"

func TestLinesOfAnEventStayBesideItsOtherWords(t *testing.T) {
	f := func(raw, data, want string) {
		t.Helper()
		behind := raw + "data: behind"
		if got := string(AppendEvent(nil, []byte(behind)[:len(raw)], []byte(data))); got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
	f("data: 1\n\n", "2", "data: 2\n\n")
	f("data:1\n\n", "2", "data: 2\n\n")
	f("id: 7\nevent: e\nretry: 10\n: c\ndata: 1\nx\n\n", "2", "id: 7\nevent: e\nretry: 10\n: c\ndata: 2\nx\n\n")
	f("event: e\r\ndata: 1\r\nid: 7\r\n\r\n", "2", "event: e\r\ndata: 2\r\nid: 7\r\n\r\n")
	f("data: {\ndata: }\nid: 7\n\n", "{\n\n}", "data: {\ndata: \ndata: }\nid: 7\n\n")
	f("data: 1\r\r", "2", "data: 2\r\n")
	f("id: 7\ndata: 1", "2", "id: 7\ndata: 2\n\n")
	f("data: 1\nid: 7\r", "2", "data: 2\nid: 7\n\n")
	f("\ufeffdata: 1\n\n", "2", "data: 2\n\n")
}
