package responses

import "epitome/rewrite/conversation"

// kind is what all entries of the input of one type have in common.
type kind struct {
	role conversation.Role // Unknown where the entry says it, or belongs to nobody
	says says              //
	key  string            // of the value that it says it in
	tool string            // what is called, where the type says it
}

// says is what an entry says, and how.
type says uint8

const (
	opaque     says = iota // what is counted as it is written
	nothing                // or what cannot be read
	content                // a text, or a list of parts
	jsonText               // a text that is JSON, and so must be any text in its place
	picture                // data in base64
	arguments              // of a tool that is called
	compaction             // the provider's summary of all before it
	trigger                // that the provider is to make one
)

// Roles under short names, for the table.
const (
	system = conversation.System
	model  = conversation.Assistant
	tool   = conversation.Tool
)

// kinds are the known types. An entry of another one, or without a type, may be a part of an answer of the model.
var kinds = map[string]kind{
	"message":                 {says: content, key: "content"},
	"reasoning":               {role: model, says: nothing},
	"function_call":           {role: model, says: arguments, key: "arguments"},
	"function_call_output":    {role: tool, says: content, key: "output"},
	"custom_tool_call":        {role: model, says: arguments, key: freeText},
	"custom_tool_call_output": {role: tool, says: content, key: "output"},
	"local_shell_call":        {role: model, says: arguments, key: "action", tool: "local_shell"},
	"local_shell_call_output": {role: tool, says: jsonText, key: "output"},
	"shell_call":              {role: model, says: arguments, key: "action", tool: "shell"},
	"shell_call_output":       {role: tool, says: content, key: "output"},
	"apply_patch_call":        {role: model, says: arguments, key: "operation", tool: "apply_patch"},
	"apply_patch_call_output": {role: tool, says: content, key: "output"},
	"computer_call":           {role: model, says: arguments, key: "action", tool: "computer"},
	"computer_call_output":    {role: tool, says: content, key: "output"},
	"program":                 {role: model, says: arguments, tool: "program"},
	"program_output":          {role: tool, says: nothing},
	"web_search_call":         {role: model},
	"file_search_call":        {role: model},
	"code_interpreter_call":   {role: model},
	"image_generation_call":   {role: model, says: picture, key: "result"},
	"mcp_call":                {role: model},
	"mcp_list_tools":          {role: model},
	"compaction":              {says: compaction},
	"context_compaction":      {says: compaction},
	"compaction_summary":      {says: compaction},
	"compaction_trigger":      {says: trigger},
	"additional_tools":        {role: system},
}

// freeText is the key of arguments that need not be JSON.
const freeText = "input"

var roles = map[string]conversation.Role{
	"system": system, "developer": system, "user": conversation.User, "assistant": model,
}
