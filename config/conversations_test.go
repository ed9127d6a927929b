package config

import (
	"maps"
	"testing"

	"epitome/prose"
	"epitome/unit"
)

func TestPresetIsSetBeforeTheNumbersBesideIt(t *testing.T) {
	f := func(text string, protect, offload int, rent float64) {
		t.Helper()
		l := load(t, text).Rewrite
		if l.Protect != protect || l.Offload != offload || l.Rent != rent {
			t.Errorf("%q gives protect_tokens %d, offload_tokens %d, rent %v", text, l.Protect, l.Offload, l.Rent)
		}
	}
	f("", 5_000, 8_000, 4)
	f("rewrite.preset = \"faithful\"", 10_000, 8_000, 6)
	f("[rewrite]\npreset = \"economy\"\nrent = 4.0", 5_000, 4_000, 4)
	f("[rewrite]\nrent = 4.0\npreset = \"economy\"", 5_000, 4_000, 4)
	f("[rewrite]\nrent = 4.0", 5_000, 8_000, 4)
	f("[rewrite]\nrent = 0", 5_000, 8_000, 0)
	refusals(t)("[rewrite]\npreset = \"bold\"", `config.toml:2: cannot use preset "bold": write one of balanced, faithful, cautious, economy`)
}

func TestNumbersThatMeanNothingAreRefused(t *testing.T) {
	f := refusals(t)
	const share, order = ": write a share from 0.01 to 1", ": compact_to must be below compact_at, and clear_at not above it"
	f("[rewrite]\ncompact_at = 1.0\nclear_at = 1.0", "")
	f("[rewrite]\ncompact_at = 0.5", "cannot use rewrite.compact_at 0.5 with compact_to 0.5 and clear_at 0.8"+order)
	f("[rewrite]\ncompact_at = 0.7", "cannot use rewrite.compact_at 0.7 with compact_to 0.5 and clear_at 0.8"+order)
	f("[rewrite]\ncompact_at = 0.7\ncompact_to = 0.3\nclear_at = 0.7", "")
	for _, key := range []string{"offload_share", "compact_at", "compact_to", "clear_at", "prepare_at"} {
		for text, said := range map[string]string{"0.0": "0", "1.5": "1.5", "-0.5": "-0.5", "nan": "NaN", "inf": "+Inf"} {
			f("[rewrite]\n"+key+" = "+text, "cannot use rewrite."+key+" "+said+share)
		}
		if key == "offload_share" || key == "compact_at" {
			f("[rewrite]\n"+key+" = 1.0", "")
		}
	}
	for text, said := range map[string]string{"1.5": "1.5", "-0.5": "-0.5", "nan": "NaN", "inf": "+Inf"} {
		f("[rewrite]\ncached_price = "+text, "cannot use rewrite.cached_price "+said+": write a price from 0 to 1")
	}
	f("[rewrite]\ncached_price = 0", "")
	f("[rewrite]\ncached_price = 1.0", "")
	f("[rewrite]\nrent = -1.0", "cannot use rewrite.rent -1: write a factor from 0 to 1000")
	f("[rewrite]\nrent = 1001.0", "cannot use rewrite.rent 1001: write a factor from 0 to 1000")
	f("[rewrite]\nrent = nan", "cannot use rewrite.rent NaN: write a factor from 0 to 1000")
	for key, counted := range map[string]string{"screen_tokens": "tokens", "names": "bytes", "recall_tokens": "tokens",
		"clear_at_least": "tokens", "protect_tokens": "tokens", "protect_groups": "groups", "keep_tokens": "tokens",
		"newest_turns":    "turns",
		"newest_messages": "messages", "newest_tool_results": "results", "assistant_tokens": "tokens"} {
		const from = ": write a whole number of "
		f("[rewrite]\n"+key+" = -1", "cannot use rewrite."+key+" -1"+from+counted+" from 0 to 100000000")
		f("[rewrite]\n"+key+" = 100000001", "cannot use rewrite."+key+" 100000001"+from+counted+" from 0 to 100000000")
		f("[rewrite]\n"+key+" = 0", "")
	}
	for _, key := range []string{"offload_tokens", "offload_read_tokens"} {
		f("[rewrite]\n"+key+" = 0", "cannot use rewrite."+key+" 0: write a whole number of tokens from 1 to 100000000")
		f("[rewrite]\n"+key+" = 1", "")
	}
	f("[rewrite]\noffload_read_keep = 20000", "") // of a limit no more than half is kept, whatever the number says
	const tools = ": write a pattern as tool, and tokens above zero or keep = true"
	f("[[rewrite.tools]]\ntokens = 5", `cannot use rewrite.tools ""`+tools)
	f("[[rewrite.tools]]\ntool = \"a\"", `cannot use rewrite.tools "a"`+tools)
	f("[[rewrite.tools]]\ntool = \"a\"\ntokens = -1", `cannot use rewrite.tools "a"`+tools)
	f("[[rewrite.tools]]\ntool = \"a\"\nkeep = true", "")
	f("[rewrite]\nbound_thinking = { \"\" = true }", "cannot use rewrite.bound_thinking \"\": write a pattern such as claude-*, or leave it out")
	f("[rewrite]\nbound_thinking = { \"my-*\" = true }", "")
	f("[window]\ndefault = 1000", "cannot use window.default 1000: write at least 1024 tokens")
	f("[window.models]\n\"gpt-*\" = 8", `cannot use window.models "gpt-*" = 8: write a pattern such as gpt-*, and at least 1024 tokens`)
	f("[window.models]\n\"\" = 8000", `cannot use window.models "" = 8000: write a pattern such as gpt-*, and at least 1024 tokens`)
	f("[offload]\naddress = \"mail\"", `cannot use offload.address "mail": write path, url, both, tool, auto or none`)
	f("[offload]\nquota = \"0B\"", "cannot use offload.quota 0B: it must be greater than zero")
	f("[otel]\nendpoint = \"localhost:4318\"",
		"cannot use otel.endpoint: write an absolute http or https URL, as in http://127.0.0.1:4318")
	f("[events]\nquota = \"0B\"", "cannot use events.quota 0B: it must be greater than zero")
	f("[store]\nkeep = \"0s\"", "cannot use store.keep 0s: it must be greater than zero")
}

// Models are named besides those of the defaults, or in their place.
func TestBoundThinkingOfAFileIsAddedToTheDefaults(t *testing.T) {
	c := load(t, "[rewrite.bound_thinking]\n\"my-*\" = true\n\"claude-opus-5-5\" = false")
	f := func(model string, want bool) {
		t.Helper()
		if c.Rewrite.BindsThinking(model) != want {
			t.Errorf("%s binds its thinking: %v", model, !want)
		}
	}
	f("my-model", true)
	f("claude-opus-5-5", false)
	f("claude-opus-5-5-20260901", true)
	f("us.anthropic.Claude-Sonnet-5-5-v1:0", true)
	f("anthropic/claude-haiku-5.5", true)
	f("claude-fable-5-1", true)
	f("claude-fable-5-2@20260901", true)
	f("claude-mythos-5-2", true)
	f("claude-mythos-5-1", false)
	f("claude-opus-5", false)
	f("claude-opus-4-5-20251101", false)
	f("claude-3-5-sonnet-20241022", false)
	f("gpt-5.5", false)
}

func TestWordsOnSummariesThatMeanNothingAreRefused(t *testing.T) {
	t.Setenv("EPITOME_TEST_KEY", "sk-ours")
	t.Setenv("EPITOME_TEST_EMPTY", " \n")
	f := refusals(t)
	f("[summarize]\nmode = \"best\"", `cannot use summarize.mode "best": write one of auto, llm, intent, hybrid, window, lossless`)
	f("[summarize]\ndetail = \"all\"", `cannot use summarize.detail "all": write one of high, medium, low, truncate`)
	f("[summarize]\nprepare = \"yes\"", `cannot use summarize.prepare "yes": write auto, on or off`)
	f("[summarize]\nprepare = true", "config.toml:2: cannot set summarize.prepare: write a text in quotes")
	f("[summarize]\nsummary_wait = \"0s\"", "cannot use summarize.summary_wait 0s: it must be greater than zero")
	f("[summarize]\njobs = 0", "cannot use summarize.jobs 0: it must be greater than zero")
	f("[summarize]\nsummary_wait = 60", `config.toml:2: cannot set summarize.summary_wait: write a number with its unit in quotes, as in "90s" or "64MB"`)
	f("[summarize]\nmax_output = 10", "cannot use summarize.max_output 10: write at least 512 tokens")
	f("[summarize]\nmodel = \"small\"", "")
	f("[summarize]\nupstream = \"openai\"", `cannot use summarize.upstream "openai" without a model: write summarize.model as well`)
	f("[summarize]\nmodel = \"small\"\nupstream = \"openai\"", "")
	f("[summarize]\nmodel = \"small\"\nupstream = \"opnai\"", `cannot use summarize.upstream "opnai": write one of anthropic, chatgpt, openai`)
	f("[summarize]\nmodel = \"small\"\nupstream = \"mine\"\n[upstreams.mine]\nurl = \"http://mine\"", "")
	const key = "[summarize]\nmodel = \"small\"\nupstream = \"openai\"\nkey_env = "
	f(key+`"EPITOME_TEST_KEY"`, "")
	const unset = "cannot use summarize.key_env: the environment variable that it names is not set or empty; set it, and write its name here, not the key"
	f(key+`"EPITOME_TEST_NONE"`, unset)
	f(key+`"EPITOME_TEST_EMPTY"`, unset)
	f(key+`"sk-put-here"`, unset)
	f("[summarize]\nkey_env = \"EPITOME_TEST_KEY\"", "cannot use summarize.key_env without the upstream it is for: write summarize.upstream as well")
}

func TestWordsOnSummariesReachTheProxy(t *testing.T) {
	c := load(t, "[summarize]\nmode = \"llm\"\ndetail = \"low\"")
	if got, want := c.Settings().Style, (prose.Style{Mode: prose.ModeLLM, Detail: prose.DetailLow}); got != want {
		t.Errorf("the proxy's requests have the style %+v, want %+v", got, want)
	}
}

func TestLowerLimitLowersWhatIsKept(t *testing.T) {
	f := func(text string, limit, keep int) {
		t.Helper()
		l := load(t, text).Rewrite
		if at := l.Bounds(200_000, 180_000); at.Of("offload_tokens") != limit || at.Of("offload_keep") != keep {
			t.Errorf("%q keeps %d of %d, want %d of %d", text, at.Of("offload_keep"), at.Of("offload_tokens"), keep, limit)
		}
	}
	f("", 8000, 2000)
	f("[rewrite]\noffload_tokens = 1500", 1500, 750)
	f("[rewrite]\noffload_tokens = 1500\noffload_keep = 300", 1500, 300)
	f("[rewrite]\noffload_keep = 9000", 8000, 4000)
}

func TestWindowsOfModelsAreWrittenAsFlagsAre(t *testing.T) {
	c := load(t, "[window]\ndefault = \"64k\"\n[window.models]\n\"gpt*\" = \"32k\"\n\"big*\" = \"1M\"\n\"own\" = 16_384")
	want := map[string]unit.Tokens{"gpt*": 32_000, "big*": 1_000_000, "own": 16_384}
	if c.Window.Default != 64_000 || !maps.Equal(c.Window.Models, want) {
		t.Errorf("read %+v", c.Window)
	}
}

func TestWindowsAreReadAsPeopleWriteThem(t *testing.T) {
	f := func(text string, want int) {
		t.Helper()
		if got, err := ParseWindow(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	f("32k", 32_000)
	f("200000", 200_000)
	f("64_000", 64_000)
	f("1M", 1_000_000)
	f("128K", 128_000)
	for _, bad := range []string{
		"", "k", "0", "-32k", "1023", "32kk", "32 k", "1.5M", "1e6", "101M", "99999999999999999999", "many",
	} {
		if got, err := ParseWindow(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

// The price of a cached token is the model's own, unless the file gives one, be it the same.
func TestAPriceInTheFileHoldsForEveryModel(t *testing.T) {
	f := func(text string, want float64) {
		t.Helper()
		c := load(t, text)
		if got := c.Rewrite.For("claude-opus-5-5").CachedPrice; got != want {
			t.Errorf("%q: a cached token of Opus 5.5 costs %v, want %v", text, got, want)
		}
	}
	f("", 0.05)
	f("[rewrite]\nrent = 2\n", 0.05)
	f("[rewrite]\ncached_price = 0.1\n", 0.1)
	f("rewrite.Cached_Price = 0.3", 0.3)
}
