package rewrite_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"epitome/rewrite"
	"epitome/rewrite/ladder"
)

const (
	longText = "line of a long document, which nobody needs whole\n"
	pdfBytes = "%PDF-1.7\n<</Type /Page>>"
)

var (
	pngBytes, _ = base64.StdEncoding.DecodeString(picture)
	artifactURL = regexp.MustCompile(`/-/artifacts/([a-z2-7]{26}(?:\.\w+)?)`)
)

// shapeOnce shapes a request in a storage of its own, and returns what is sent and the artifacts that it names.
func shapeOnce(
	t *testing.T, name, list string, window int, rescue *rewrite.Rescue,
) (out rewrite.Output, kept map[string]string) {
	t.Helper()
	storage, limits := newStorage(), defaultLimits()
	p := start(storage)
	p.window.Store(int64(window))
	key, _ := apis[name].members()
	body := `{"model":"m","max_tokens":100,"tools":[{"name":"get"}],"` + key + `":[` + list + `]}`
	out = p.Shape(rewrite.Input{Dialect: dialects[name], Body: []byte(body), Limits: &limits, Rescue: rescue})
	if out.Report.Err != nil || out.Settle != nil && !out.Settle() {
		t.Fatal(out.Report.Err)
	}
	kept = map[string]string{}
	for _, m := range artifactURL.FindAllStringSubmatch(string(out.Body), -1) {
		kept[m[1]] = storage.artifact(m[1])
	}
	return out, kept
}

// calledWith is a call of a tool and its result.
func calledWith(i int, content string) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"get","input":{}}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":[%s]}]}`, i, i, content)
}

// The text of a document or a search result in a result is cut like other results, and its title stays.
func TestDocumentsInResultsAreCut(t *testing.T) {
	text := strings.Repeat(longText, 4_000)
	for _, document := range []string{
		`{"type":"document","title":"Plan","source":{"type":"text","media_type":"text/plain","data":%s}}`,
		`{"type":"document","title":"Plan","source":{"type":"content","content":%s}}`,
		`{"type":"document","title":"Plan","source":{"type":"content","content":[{"type":"text","text":%s}]}}`,
		`{"type":"search_result","title":"Plan","source":"https://a/b","content":[{"type":"text","text":%s}]}`,
	} {
		list := `{"role":"user","content":"Go."},` + calledWith(1, fmt.Sprintf(document, quoted(text)))
		for _, rescue := range []*rewrite.Rescue{nil, {Most: 3_000, From: ladder.StageClear}} {
			out, kept := shapeOnce(t, "messages", list, 200_000, rescue)
			isKept := false
			for _, content := range kept {
				isKept = isKept || content == text
			}
			if len(out.Body) > len(text)/4 || !isKept || strings.Count(string(out.Body), "which nobody needs") < 10 ||
				!strings.Contains(string(out.Body), `"title":"Plan"`) {
				t.Errorf("%s, %+v: %d bytes are sent: %.300s", document, rescue, len(out.Body), out.Body)
			}
		}
	}
}

// Pictures and PDFs of a cleared result are kept as such files, and nothing else that the text names repeats them.
func TestFilesOfClearedResultsAreKeptAsTheyAre(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte(pdfBytes))
	list := `{"role":"user","content":"Go."}`
	for i := range 20 {
		list += "," + calledWith(i, `{"type":"text","text":`+quoted(strings.Repeat("shown ", 500))+`},`+
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+picture+`"}},`+
			`{"type":"document","title":"Plan","source":{"type":"base64","media_type":"application/pdf","data":"`+data+`"},`+
			`"cache_control":{"type":"ephemeral"}}`)
	}
	out, kept := shapeOnce(t, "messages", list, 40_000, &rewrite.Rescue{Most: 35_000, From: ladder.StageClear})
	files := 0
	for name, content := range kept {
		want := map[string]string{"png": string(pngBytes), "pdf": pdfBytes}[name[min(len(name), 27):]]
		if want != "" && content == want {
			files++
		} else if want != "" || strings.Contains(content, picture) || strings.Contains(content, data) {
			t.Errorf("%s is %q", name, content)
		}
	}
	if files != 2 || !strings.Contains(string(out.Body), `document \"Plan\" (about 1 KB)`) {
		t.Errorf("%d files are kept: %.900s", files, out.Body)
	}
	if n := strings.Count(string(out.Body), "cache_control"); n != 20 {
		t.Errorf("%d of 20 marks are left", n)
	}
}

// In a rescue a document of the user goes, named, and is not taken for what the user said.
func TestUsersDocumentIsNamedInARescue(t *testing.T) {
	list := `{"role":"user","content":[{"type":"document","title":"Plan","source":{"type":"text","media_type":` +
		`"text/plain","data":` + quoted(strings.Repeat(longText, 4_000)) + `}},{"type":"text","text":"Read it."}]}`
	out, _ := shapeOnce(t, "messages", list, 20_000, &rewrite.Rescue{Most: 3_000, From: ladder.StageUsers})
	if s := string(out.Body); !strings.Contains(s, `message of the user, text file \"Plan\" (about 205 KB)`) {
		t.Errorf("%.900s", s)
	}
}

// Each further refusal of pictures takes out more of them, and where none is left, nothing is sent again.
func TestFewPicturesAreNotLeftOutTwice(t *testing.T) {
	for n := 1; n <= 6; n++ {
		list := `{"role":"user","content":"Go."}`
		for i := range n {
			list += "," + calledWith(i, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+
				picture+`"}}`)
		}
		most := 0
		for try := 1; try <= 3; try++ {
			out, _ := shapeOnce(t, "messages", list, 100_000, &rewrite.Rescue{Pictures: try})
			left := n - strings.Count(string(out.Body), picture)
			if isAll := most == n; left <= most && !isAll || isAll && out.Report.Decided {
				t.Errorf("try %d leaves out %d of %d pictures, and the one before %d", try, left, n, most)
			}
			most = max(most, left)
		}
	}
}

// A message with content of a kind that epitome does not know is sent as it came, however full the window is.
func TestUnknownContentStays(t *testing.T) {
	for name, unknown := range map[string]string{
		"messages":  `{"role":"user","content":[{"type":"text","text":"First."},{"type":"hologram","of":"a cat"}]}`,
		"responses": `{"type":"hologram","of":"a cat"}`,
	} {
		list := `{"role":"user","content":"Go."},{"role":"assistant","content":"I go."},` + unknown
		for i := range 40 {
			list += fmt.Sprintf(`,{"role":"assistant","content":"%d %s"},{"role":"user","content":"Go on, %d."}`, i,
				strings.Repeat("I look at it. ", 200), i)
		}
		out, _ := shapeOnce(t, name, list, 16_000, nil)
		if out.Report.Compacted == 0 || !strings.Contains(string(out.Body), unknown) {
			t.Errorf("%s: %d items compacted, sent is %.1500s", name, out.Report.Compacted, out.Body)
		}
	}
}

// A picture given by address is named by it, whatever the address looks like, and nothing of it is decoded.
func TestPictureByAddressIsNamedByIt(t *testing.T) {
	const address = "https://img.example/fit,w200/abcdefgh,abcdefgh"
	for name, list := range map[string]string{
		"chat": `{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + address + `"}}]},` +
			`{"role":"assistant","content":"A cat."},{"role":"user","content":"Sure?"}`,
		"messages": `{"role":"user","content":"Go."},` +
			calledWith(1, `{"type":"image","source":{"type":"url","url":"`+address+`"}}`),
		"responses": `{"role":"user","content":[{"type":"input_image","image_url":"` + address + `"}]},` +
			`{"role":"assistant","content":[{"type":"output_text","text":"A cat."}]}`,
	} {
		out, kept := shapeOnce(t, name, list, 100_000, &rewrite.Rescue{Pictures: 1})
		if len(kept) != 1 || !strings.Contains(fmt.Sprint(kept), ":"+address+"]") ||
			!strings.Contains(string(out.Body), "picture at "+address+" left out") {
			t.Errorf("%s: %v: %s", name, kept, out.Body)
		}
	}
}

// Omitted lines are named as the artifact has them; where it has others than were shown, as of an output that a
// terminal has redrawn, they are only counted.
func TestGapsNameLinesOfTheArtifact(t *testing.T) {
	for text, isNamed := range map[string]bool{"\x1b[31mred\x1b[0m\n": true, "a\nb\n\x1b[2A": false} {
		for i := range 8_000 {
			text += fmt.Sprintf("step %d: %x\n", i, i*i)
		}
		out, _ := shapeOnce(t, "chat", keepAPIs["chat"].called(1, text), 128_000, nil)
		sent := string(out.Body)
		if strings.Contains(sent, "omitted (") != isNamed || strings.Contains(sent, "omitted]") == isNamed {
			t.Errorf("%.10q is sent as %.600s", text, sent)
		}
	}
}
