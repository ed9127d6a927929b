package window

import (
	"strings"

	"epitome/unit"
)

// family is models that are called alike and hold as much.
type family struct {
	patterns string // of bare names, separated by spaces
	tokens   int
}

// families is read from the top: the first pattern that fits holds. So what a family's odd members hold stands before
// the family, and for its next ones, which nobody knows yet, the smaller of what its members hold.
//
// The numbers are what the makers publish, taken from the listings of models.dev as of 2 July 2026, for GPT-5.6 and
// GPT-6 of September 2026. Where a maker takes less as a request than the window holds, the request counts: OpenAI
// refuses more than 272,000 tokens to models of 400,000 ("Input tokens exceed the configured limit of 272000 tokens",
// cline issue 5474) and publishes 922,000 for those of 1,050,000. Of open models that need a setting for their full
// window (YaRN), the one without it is meant; of those that hosts give differently, what most of them give.
var families = [...]family{
	// OpenAI
	{"gpt-5-*chat gpt-5-*chat-*", 128_000},
	{"gpt-5-3-codex-spark*", 100_000},
	{"gpt-5-?-mini* gpt-5-?-nano*", 272_000},
	{"gpt-5-4 gpt-5-4-* gpt-5-5 gpt-5-5-* gpt-5-6 gpt-5-6-* gpt-6 gpt-6-*", 922_000},
	{"gpt-5 gpt-5-*", 272_000},
	{"gpt-oss*", 131_072},
	{"gpt-4-1 gpt-4-1-*", 1_047_576},
	{"gpt-4o* chatgpt-4o* gpt-4-5* gpt-4-turbo* gpt-4-1106* gpt-4-0125* gpt-4-vision*", 128_000},
	{"gpt-4-32k*", 32_768},
	{"gpt-4 gpt-4-*", 8_192},
	{"gpt-3-5-turbo-instruct* gpt-35-turbo-instruct*", 4_096},
	{"gpt-3-5* gpt-35*", 16_385},
	{"o1-mini* o1-preview*", 128_000},
	{"o1 o1-* o3 o3-* o4 o4-* codex-mini*", 200_000},
	{"computer-use*", 8_192},

	// Anthropic. The million of Sonnet 4 and 4.5 needs a header, and the right to it.
	{"claude-opus-4-6* claude-opus-4-7* claude-opus-4-8* claude-sonnet-4-6*", 1_000_000},
	{"claude-sonnet-5* claude-fable-5*", 1_000_000},
	{"claude-2 claude-v2 claude-instant*", 100_000},
	{"claude*", 200_000},

	// Google
	{"gemini-*-tts*", 8_192},
	{"gemini-embedding*", 2_048},
	{"gemini-2-*-image*", 32_768},
	{"gemini-*-image*", 65_536},
	{"gemini-1-0* gemini-pro gemini-pro-*", 32_760},
	{"gemini*", 1_048_576},
	{"gemma-4* gemma4*", 262_144},
	{"gemma-3n* gemma3n* gemma-3-1b*", 32_768},
	{"gemma-3* gemma3*", 131_072},
	{"gemma*", 8_192},

	// xAI
	{"grok-4-fast* grok-4-1-fast*", 2_000_000},
	{"grok-4-20* grok-4-3*", 1_000_000},
	{"grok-4* grok-code* grok-build*", 256_000},
	{"grok*", 131_072},

	// DeepSeek
	{"deepseek-v4* deepseek-4*", 1_000_000},
	{"deepseek-r1-distill-llama-70b*", 131_072},
	{"deepseek-r1-distill*", 32_768},
	{"deepseek-v3* deepseek-3* deepseek-r1* deepseek-chat* deepseek-reasoner* deepseek-coder-v2*", 128_000},
	{"deepseek-coder*", 16_384},
	{"deepseek*", 65_536},

	// Alibaba
	{"qwen3-?-plus* qwen3-?-flash* qwen3-7* qwen3-coder-plus* qwen3-coder-flash*", 1_000_000},
	{"qwen-plus-character*", 8_192},
	{"qwen-plus* qwen-turbo* qwen-flash*", 1_000_000},
	{"qwen3-5-omni*", 49_152},
	{"qwen3-5* qwen3-6* qwen3-coder* qwen3-max* qwen3-*-2507* qwen3-vl-plus*", 262_144},
	{"qwen3-next* qwen3-vl* qwq* qvq* qwen-vl*", 131_072},
	{"qwen3-omni*", 65_536},
	{"qwen3*", 40_960},
	{"qwen*", 32_768},

	// Mistral
	{"mistral-large-2512* mistral-large-3* mistral-medium-2508* mistral-medium-2604* mistral-medium-3-5*", 262_144},
	{"devstral-2512* devstral-2* devstral devstral-medium ministral-*-reasoning-2512* ministral-14b-*", 262_144},
	{"mistral-small-2603* mistral-small-4* labs-devstral-small-2512* devstral-small-2 devstral-small-2-*", 256_000},
	{"mistral-large* mistral-medium* ministral-*-2512* ministral-3-*", 131_072},
	{"mistral-small-2402* mistral-small-2409* mistral-small-2501* mistral-small-24b* codestral-2405*", 32_768},
	{"mistral-embed* codestral-embed*", 8_000},
	{"codestral*", 256_000},
	{"magistral-*-2506*", 40_000},
	{"mistral-small-* devstral* magistral* ministral* pixtral* *mistral-nemo*", 128_000},
	{"*mixtral-8x22b*", 64_000},
	{"mistral* *mixtral* open-mistral*", 32_000},

	// Moonshot
	{"kimi-k2 kimi-k2-instruct kimi-k2-*0711*", 131_072},
	{"kimi-k2*", 262_144},
	{"moonshot-v1-32k*", 32_768},
	{"moonshot-v1-128k* kimi*", 131_072},
	{"moonshot*", 8_192},

	// Z.ai. Hosts give GLM-4.6 to 5.1 from 200,000 to 204,800.
	{"glm-5-2 glm-5-2-fast glm-4-long", 1_000_000},
	{"glm-5-2-short*", 199_984},
	{"glm-4-5v* glm-4-1v*", 64_000},
	{"glm-4-6v*", 128_000},
	{"glm-4-6* glm-4-7* glm-5*", 200_000},
	{"glm-4-airx* glm-4-9b*", 8_000},
	{"glm*", 128_000},

	// MiniMax. M3 is published with 1,000,000, and given with 512,000.
	{"minimax-m3*", 512_000},
	{"minimax-m1* minimax-text-01* minimax-01*", 1_000_000},
	{"minimax-m2-her*", 65_532},
	{"minimax*", 196_608},

	// Others
	{"*llama-3-1* *llama-3-2* *llama-3-3* *llama3-1* *llama3-2* *llama3-3* llama-v3-1* llama-v3-2* llama-v3-3*", 128_000},
	{"*llama-4* *llama4*", 128_000},
	{"*llama-3* *llama3* llama-v3-*", 8_192},
	{"*llama*", 4_096},
	{"command-a-translate*", 8_000},
	{"command-a-0* command-a command-a-reasoning*", 256_000},
	{"command-a* command-r*", 128_000},
	{"nova-2-* nova-premier*", 1_000_000},
	{"nova-micro*", 128_000},
	{"nova-lite* nova-pro*", 300_000},
	{"phi-4-mini* phi-4-multimodal* phi-3-5* phi-3-*-128k*", 128_000},
	{"phi-4-reasoning*", 32_000},
	{"phi-4*", 16_000},
	{"phi-3-small-8k*", 8_192},
	{"phi*", 4_096},
	{"jamba*", 256_000},
	{"granite-4* hermes-4*", 131_072},
	{"nemotron*", 128_000},
	{"mimo-v2-pro* mimo-v2-5 mimo-v2-5-pro*", 1_000_000},
	{"mimo-v2-*-tts* mimo-v2-tts*", 8_192},
	{"mimo-v2* step-3-5* step-3-7*", 256_000},
	{"step-3*", 65_536},
	{"mercury-2*", 128_000},
}

// familyOf is what models hold that are called like this one.
func familyOf(bare string) (tokens int, ok bool) {
	for _, f := range families {
		for p := range strings.FieldsSeq(f.patterns) {
			if unit.Match(p, bare) {
				return f.tokens, true
			}
		}
	}
	return 0, false
}
