package daemon

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"epitome/internal/fakeapi"
)

// screenshot returns a picture of noise, in base64.
func screenshot(side int, seed uint64) string {
	m, noise := image.NewNRGBA(image.Rect(0, 0, side, side)), rand.New(rand.NewPCG(seed, 1))
	for i := range m.Pix {
		m.Pix[i] = byte(noise.Uint32()) //nolint:gosec // a byte of noise
	}
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m) // a buffer takes everything
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// withPictures is a request of an agent that has taken screenshots; in Chat Completions, whose results hold no
// pictures, the user shows them.
func withPictures(api string, shots []string) string {
	list := []string{`{"role":"user","content":"Look at the shop."}`}
	for k, shot := range shots {
		id, url := fmt.Sprint("call_", k), `"data:image/png;base64,`+shot+`"`
		switch api {
		case "messages":
			list = append(list, `{"role":"assistant","content":[{"type":"tool_use","id":"`+id+`","name":"shot","input":{}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":[{"type":"image","source":`+
					`{"type":"base64","media_type":"image/png","data":"`+shot+`"}}]}]}`)
		case "responses":
			list = append(list, `{"type":"function_call","call_id":"`+id+`","name":"shot","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"`+id+`","output":[{"type":"input_image","image_url":`+url+`}]}`)
		default:
			list = append(list, `{"role":"assistant","content":"Show me."}`,
				`{"role":"user","content":[{"type":"text","text":"Here."},{"type":"image_url","image_url":{"url":`+url+`}}]}`)
		}
	}
	key := map[string]string{"chat": "messages", "messages": "messages", "responses": "input"}[api]
	return fmt.Sprintf(`{"model":"seer","%s":[%s]%s}`, key, strings.Join(list, ","), map[string]string{
		"messages":  `,"max_tokens":4000,"tools":[{"name":"shot","input_schema":{"type":"object"}}]`,
		"responses": `,"tools":[{"type":"function","name":"shot","parameters":{"type":"object"}}],"store":false`,
	}[api])
}

var pictureData = regexp.MustCompile(`iVBORw0KGgo[^"]*`)

// takes refuses requests with more pictures than most, or with one of more than 5 MB, in the words of the API.
func takes(most int) func(fakeapi.Exchange) *fakeapi.Refusal {
	return func(x fakeapi.Exchange) *fakeapi.Refusal {
		all := pictureData.FindAll(x.Body, -1)
		refusal := &fakeapi.Refusal{Status: 400, Type: "invalid_request_error"}
		for _, data := range all {
			if size := len(data) / 4 * 3; size > 5<<20 {
				refusal.Message = fmt.Sprintf("messages.2.content.0.image.source.base64: image exceeds 5 MB maximum: %d bytes > "+
					"5242880 bytes", size)
				return refusal
			}
		}
		if len(all) <= most {
			return nil
		}
		refusal.Message = fmt.Sprintf("Too much media: 0 document pages + %d images > %d", len(all), most)
		return refusal
	}
}

// An agent that piles up screenshots meets no refusal: the oldest go to artifacts, before the API's limit is reached or
// once a server with a lower one refuses, and so does one that is too large by itself. The newest is always sent.
func TestOldPicturesGoBeforeTheyAreTooMany(t *testing.T) {
	t.Parallel()
	for api := range modelIn {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			most := 10
			provider := fakeapi.StartProvider(t, fakeapi.Options{Models: map[string]fakeapi.Model{"seer": {Window: 1_000_000,
				MaxOutput: 64_000}}, Refuse: func(x fakeapi.Exchange) *fakeapi.Refusal { return takes(most)(x) }})
			p := run(t, t.TempDir(), provider.URL, windowOf(1_000_000))
			var shots []string
			ask := func() (sent string) {
				t.Helper()
				resp, answer := post(t, p.url+(&agent{api: api}).path(), withPictures(api, shots), "anthropic-version: 2023-06-01",
					"x-epitome-set: rent=0")
				if sent = provider.Last(); resp.StatusCode != http.StatusOK || !strings.Contains(sent, shots[len(shots)-1]) {
					t.Fatalf("%d pictures: %s %.300s", len(shots), resp.Status, answer)
				}
				return sent
			}
			refused := func() (n int) {
				for _, x := range provider.Exchanges() {
					if x.Refusal != nil {
						n++
					}
				}
				return n
			}
			sent := ""
			for k := range 24 {
				shots = append(shots, screenshot(60, uint64(k)))
				sent = ask()
			}
			if refused() != 1 {
				t.Errorf("%d requests were refused: %v", refused(), provider.Refusals())
			}
			note := regexp.MustCompile(`picture \(png, 60 x 60 pixels, \d+ bytes\) left out. Its bytes: \S+/([a-z2-7]{26}\.png)`)
			names := note.FindAllStringSubmatch(sent, -1)
			if len(names) < 14 {
				t.Fatalf("%d pictures left notes: %.1000s", len(names), pictureData.ReplaceAllString(sent, "PICTURE"))
			}
			if first, _ := base64.StdEncoding.DecodeString(shots[0]); p.read("/-/artifacts/"+names[0][1]) != string(first) {
				t.Error("the artifact is not the picture")
			}
			p.wantLog(`"msg":"rescue","id":.*"verdict":"pictures","outcome":"rescued","tries":1,"stages":"pictures"`)

			shots = append(shots, screenshot(1300, 99)) // 6.8 MB
			before := len(pictureData.FindAllString(sent, -1))
			shots = append(shots, screenshot(60, 100))
			if sent = ask(); strings.Contains(sent, shots[24]) || len(pictureData.FindAllString(sent, -1)) < before {
				t.Error("the picture that is too large is sent, or others are not")
			}
			if ask(); refused() != 2 {
				t.Errorf("%d requests were refused, want 2", refused())
			}

			most, shots = map[string]int{"messages": 100}[api], nil
			for k := range 90 {
				shots = append(shots, screenshot(1, uint64(k)))
			}
			if most > 0 {
				if n := len(pictureData.FindAllString(ask(), -1)); n > 80 || n < 40 || refused() != 2 {
					t.Errorf("%d of 90 pictures are sent, %d requests were refused", n, refused())
				}
			}
		})
	}
}
