package house_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The JSON names of a dialect stand in its own package alone: whoever else knew one of them would have to know those of
// each dialect that comes.

// spoken are names that only dialects have, in their JSON and their paths, by the folder of the package. Some have a
// name in common.
var spoken = map[string]string{
	"rewrite/chat": `chat/completions choices max_tokens max_completion_tokens prompt_tokens completion_tokens
		prompt_tokens_details tool_calls tool_call_id tool_choice function_call finish_reason response_format
		parallel_tool_calls cache_control`,
	"rewrite/messages": `max_tokens cache_control tool_use tool_use_id tool_result is_error redacted_thinking
		server_tool_use budget_tokens input_schema stop_reason stop_sequences tool_choice message_start message_delta
		content_block_start content_block_delta cache_creation_input_tokens cache_read_input_tokens`,
	"rewrite/responses": `max_output_tokens call_id function_call function_call_output custom_tool_call encrypted_content
		input_text output_text previous_response_id compaction_trigger prompt_cache_breakpoint
		client_metadata item_reference tool_choice`,
}

// foreign are the folders that may know a dialect's names, with all below them, each with the reason.
var foreign = map[string]string{
	"bench":    "it plays clients and providers, and sees epitome from outside",
	"scripted": "it plays providers",
	"window":   "it reads what providers say about their windows, in their own sentences and whatever they speak",
}

func TestDialectsKeepTheirNames(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkSpoken(s))
	}
	for folder := range spoken {
		if !slices.ContainsFunc(sources(t), func(s *source) bool { return s.dir == folder }) {
			t.Errorf("no dialect is in %s: take it out of the table", folder)
		}
	}
	report(t, checkReasons("foreign", foreign))
}

// checkSpoken refuses string literals, tags of fields too, that have a dialect's name in them, outside its package.
// Packages for tests play clients and providers like the tests themselves.
func checkSpoken(s *source) (complaints []string) {
	top, _, _ := strings.Cut(s.dir, "/")
	if s.test || strings.HasSuffix(s.dir, "test") || foreign[top] != "" {
		return nil
	}
	var own []string
	for folder, names := range spoken {
		if s.dir == folder || strings.HasPrefix(s.dir, folder+"/") {
			own = strings.Fields(names)
		}
	}
	for folder, names := range spoken {
		if s.dir == folder || strings.HasPrefix(s.dir, folder+"/") {
			continue
		}
		name := regexp.MustCompile(`(?:^|[^\w])(` + strings.Join(strings.Fields(names), "|") + `)(?:$|[^\w])`)
		ast.Inspect(s.tree, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if found := name.FindStringSubmatch(literal.Value); found != nil && !slices.Contains(own, found[1]) {
				complaints = append(complaints,
					s.complain(literal, "%q is a name of the dialect in %s: ask the dialect", found[1], folder))
			}
			return true
		})
	}
	slices.Sort(complaints)
	return complaints
}

func TestSpokenCheckerCanFail(t *testing.T) {
	f := complaining(t, checkSpoken)
	for _, text := range []string{
		"package a; const s = `{\"max_tokens\":1}`",
		`package a; const s = "/v1/chat/completions"`,
		"package a; type t struct { X int `json:\"finish_reason\"` }",
		`package a; var _ = f("choices")`,
	} {
		f("proxy/x.go", text, "ask the dialect")
		f("proxy/x_test.go", text, "")
		f("event/eventtest/x.go", text, "")
		f("rewrite/chat/x.go", text, "")
		f("bench/backend/x.go", text, "")
	}
	f("proxy/x.go", `package a; const s = "my_max_tokens, choices_made"; const tool_calls = 1 // choices`, "")
}
