package responses

import "epitome/dialect/conversation"

// kind is what all entries of one type in the input have in common.
type kind struct {
	role  conversation.Role // Unknown where the entry itself names its role, or where nobody speaks
	holds holding
	key   string // JSON key of the value that it holds
	tool  string // name of the tool that is called, where all entries of the type call the same
	args  string // JSON key of the arguments of a call that the provider ran
}

// holding is what an entry holds, and how.
type holding uint8

const (
	opaque     holding = iota // something that is not read, but counted as it is written; types without holds, too
	nothing                   // nothing, or something that cannot be read
	content                   // a text, or a list of parts
	jsonText                  // a text that is JSON, as any text in its place must be
	picture                   // an image, in base64
	screenshot                // a part with an image, which no text can replace
	arguments                 // the arguments of a call
	compaction                // the provider's summary of all before it
	trigger                   // a request that the provider make such a summary
)

// Roles under short names, for the table.
const (
	system = conversation.System
	model  = conversation.Assistant
	tool   = conversation.Tool
)

// kinds are the known types of entries. An entry of another type, or of none, may be a part of an answer (see add).
var kinds = map[string]kind{
	"message":                 {holds: content, key: "content"},
	"reasoning":               {role: model, holds: nothing},
	"function_call":           {role: model, holds: arguments, key: "arguments"},
	"function_call_output":    {role: tool, holds: content, key: "output"},
	"custom_tool_call":        {role: model, holds: arguments, key: freeText},
	"custom_tool_call_output": {role: tool, holds: content, key: "output"},
	"local_shell_call":        {role: model, holds: arguments, key: "action", tool: "local_shell"},
	"local_shell_call_output": {role: tool, holds: jsonText, key: "output"},
	"shell_call":              {role: model, holds: arguments, key: "action", tool: "shell"},
	"shell_call_output":       {role: tool, holds: content, key: "output"},
	"apply_patch_call":        {role: model, holds: arguments, key: "operation", tool: "apply_patch"},
	"apply_patch_call_output": {role: tool, holds: content, key: "output"},
	"computer_call":           {role: model, holds: arguments, key: "action", tool: "computer"},
	"computer_call_output":    {role: tool, holds: screenshot, key: "output"},
	"program":                 {role: model, holds: arguments, tool: "program"},
	"program_output":          {role: tool, holds: nothing},
	"web_search_call":         {role: model, tool: "web_search", args: "action"},
	"file_search_call":        {role: model, tool: "file_search", args: "queries"},
	"code_interpreter_call":   {role: model, tool: "code_interpreter", args: "code"},
	"image_generation_call": {role: model, holds: picture, key: "result", tool: "image_generation",
		args: "revised_prompt"},
	"mcp_call":           {role: model, args: "arguments"},
	"mcp_list_tools":     {role: model},
	"compaction":         {holds: compaction},
	"context_compaction": {holds: compaction},
	"compaction_summary": {holds: compaction},
	"compaction_trigger": {holds: trigger},
	"additional_tools":   {role: system},
}

// freeText is the key of arguments that are any text; under other keys they are JSON.
const freeText = "input"

var roles = map[string]conversation.Role{
	"system": system, "developer": system, "user": conversation.User, "assistant": model,
}
