// Package responses is an upstream that plays a strict server of the Responses API.
//
// It promises that a request which the real server refuses is refused here, with its status, its code and its words;
// that what is opaque is accepted only as it was issued, and reasoning only in front of what it led to; and that
// tokens and the cache are accounted by the rules below. The same requests in the same order get the same bytes, on
// every machine. It knows nothing of who asks, and shares no code with it, so that it shares no mistake either.
//
// It listens on a loopback port (Start), is an http.Handler (New), and judges a body without any wire (Judge). What
// arrives is kept in memory: it is made for tests, not for load.
//
//	m := rules.ModelOf("gpt-5")
//	m.Window, m.Overflow = 64_000, rules.FailsInStream
//	s := scriptedtest.StartResponses(t, responses.Options{Models: map[string]rules.Model{"gpt-5": m}})
//	s.Next(responses.Turn{Items: []responses.Item{responses.Think("hm"), responses.Call("", "bash", `{"c":"ls"}`)}},
//		responses.Turn{Refuse: rules.Overloaded()}, responses.Say("Done."))
//	… a client asks s.URL()+"/v1/responses" …
//	s.Refusals() // what broke a rule; Received has all requests, with tokens, usage and what became of them
//
// # What is asked
//
// POST …/v1/responses, …/v1/responses/input_tokens and …/v1/responses/compact, with any query; POST …/v1/conversations
// opens one; GET …/v1/responses/ID returns a response that is kept; GET …/v1/models lists the models of Options. GET
// …/v1/responses as a WebSocket gets 426, all else 404. Bodies may be compressed by zstd or gzip. A request is read,
// then judged, and a sound one is answered with the next Turn that was scripted (Next), or with what Options.Otherwise
// says. A refused request uses up no turn.
//
// # What is checked
//
// In this order: size of the body (413), the key (401); that it is JSON, names and types of fields, what the server
// is to keep; tools; each item's type, fields, id, parts and lengths, ids twice; max_output_tokens, reasoning,
// tool_choice, truncation, include, text.format; the place of a compaction_trigger; previous_response_id,
// conversation and references; calls and outputs, of each kind; opaque strings; reasoning and what it led to; the
// window.
//
// Package rules reads and judges all of this but what was issued (issued) and size (account).
//
// # State
//
// A response is kept unless the request says store:false. previous_response_id and conversation bring back all that
// was said up to it; item_reference brings back one item of a kept answer. With background the answer is queued, and
// done when it is first fetched. Adopt takes what a conversation that was made up has of opaque strings and ids for
// issued.
//
// # Opaque strings
//
// encrypted_content binds the kind of its item, its id and the credentials. Reasoning has some if the request includes
// reasoning.encrypted_content; a compaction always.
//
// # Tokens
//
// A text has one token for each four bytes, rounded up, or what Options.Count says. An item costs 4, tools together
// 120; an image is 1 100, a file 3 000; reasoning and compactions are what was sealed in them. Reasoning of turns
// before the last message of the user is no input. Tools count name, description and parameters; other items count
// their JSON.
//
// # Cache
//
// Positions are tools, instructions and items, in this order. Before GPT-5.6 each prefix of at least 1 024 tokens is
// cached at its items' ends, and read in steps of 128, for ten minutes after its last use, or for a day with
// prompt_cache_retention 24h. From then on (rules.Model.Breaks) entries are written at breakpoints alone: three that
// the request marks, and one behind the newest item of the user or a tool; the newest 80 are looked for, and Usage
// says what was written. Credentials, model and prompt_cache_key are part of all. Only Advance moves the clock.
//
// # Left out
//
// Tools that the server runs, files, prompts of the dashboard (prompt is accepted and empty), WebSockets, moderation,
// and obfuscation of deltas.
package responses
