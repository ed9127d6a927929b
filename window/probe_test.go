package window

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Answers of servers, made up after what each publishes of its API.
const (
	vllm = `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","owned_by":"vllm","root":"Qwen/Qwen3-8B",` +
		`"parent":null,"max_model_len":32768},` +
		`{"id":"sql","owned_by":"vllm","root":"/adapters/sql","parent":"Qwen/Qwen3-8B","max_model_len":null}]}`
	groq = `{"object":"list","data":[{"id":"llama-3.1-8b-instant","active":true,"context_window":131072,` +
		`"max_completion_tokens":131072},` +
		`{"id":"gemma2-9b-it","context_window":8192},{"id":"whisper-large-v3","context_window":448}]}`
	openRouter = `{"data":[{"id":"z-ai/glm-4.6","canonical_slug":"z-ai/glm-4.6-20250930","name":"GLM",` +
		`"context_length":204800,"top_provider":{"context_length":202752,"max_completion_tokens":null}},` +
		`{"id":"qwen/qwen3-coder","context_length":1048576,"top_provider":{"context_length":null}},{"id":` +
		`"qwen/qwen3-coder:free","context_length":262144,"top_provider":{"context_length":262000}}]}`
	together = `[{"id":"deepseek-ai/DeepSeek-V3","type":"chat","context_length":131072,"pricing":{"input":1.25}},` +
		`{"id":"BAAI/bge","type":"embedding","context_length":512}]`
	mistral = `{"object":"list","data":[{"id":"mistral-large-2512","max_context_length":262144,"aliases":` +
		`["mistral-large-latest"]},{"id":"codestral-2508","max_context_length":256000,"aliases":[]}]}`
	llamaOne = `{"default_generation_settings":{"id":0,"n_ctx":16384,"params":{"n_predict":-1}},"total_slots":4,` +
		`"model_alias":"qwen","model_path":"/models/qwen.gguf"}`
	ollamaPS = `{"models":[{"name":"llama3.2:latest","model":"llama3.2:latest","size":6654289920,"details":` +
		`{"family":"llama"},"size_vram":6654289920,"context_length":8192},` +
		`{"name":"hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M","model":"hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M",` +
		`"context_length":40960}]}`
	studioV0 = `{"object":"list","data":[{"id":"qwen3-8b","type":"llm","state":"loaded","max_context_length":` +
		`40960,"loaded_context_length":12000},` +
		`{"id":"gemma-3","type":"llm","state":"not-loaded","max_context_length":131072}]}`
	studioV1 = `{"models":[{"type":"llm","key":"qwen/qwen3-8b","loaded_instances":[{"id":"qwen/qwen3-8b","config":` +
		`{"context_length":12000,"parallel":4}},` +
		`{"id":"qwen/qwen3-8b:2","config":{"context_length":9000}}],"max_context_length":40960},{"type":"llm",` +
		`"key":"gemma-3","loaded_instances":[],"max_context_length":131072}]}`
)

// readProbe reads the answer of a server to the look whose path begins so; 0 if it is none.
func readProbe(path, body, model string) int {
	i := slices.IndexFunc(looks, func(l look) bool { return strings.HasPrefix(l.path, path) })
	if !gjson.Valid(body) {
		return 0
	}
	return looks[i].read(gjson.Parse(body), model)
}

// What a model could hold is not what it does hold.
func TestServersSayHowMuchTheirModelsHold(t *testing.T) {
	f := func(path, body, model string, want int) {
		t.Helper()
		if got := readProbe(path, body, model); got != want {
			t.Errorf("%s of %q: got %d, want %d", path, model, got, want)
		}
	}
	const list = "/v1/models"
	f(list, vllm, "qwen/qwen3-8b", 32_768)
	f(list, vllm, "/srv/Qwen3-8B", 32_768)
	f(list, vllm, "sql", 32_768)
	f(list, groq, "gemma2-9b-it", 8_192)
	f(list, groq, "whisper-large-v3", 0) // too small to be true
	f(list, openRouter, "z-ai/glm-4.6", 202_752)
	f(list, openRouter, "openrouter/auto", 0)
	f(list, together, "deepseek-ai/DeepSeek-V3", 131_072)
	f(list, mistral, "mistral-large-latest", 262_144)
	f("/props", llamaOne, "qwen", 16_384)
	f("/api/ps", ollamaPS, "llama3.2", 8_192)
	f("/api/ps", ollamaPS, "unsloth/Qwen3-8B-GGUF:Q4_K_M", 40_960)
	f("/api/ps", ollamaPS, "qwen3:8b", 0)
	f("/api/v0/models", studioV0, "qwen3-8b", 12_000)
	f("/api/v0/models", studioV0, "gemma-3", 0)
	f("/api/v1/models", studioV1, "qwen/qwen3-8b:2", 9_000)
	f("/api/v1/models", studioV1, "gemma-3", 0)
	for _, body := range []string{"", "[]", `"text"`, "<html></html>", `{"data":[4096,null,["m",4096]]}`,
		`{"data":[{"id":"m","max_model_len":true}]}`, `{"data":[{"id":"m","max_model_len":1e30}]}`} {
		f(list, body, "m", 0)
	}
}
