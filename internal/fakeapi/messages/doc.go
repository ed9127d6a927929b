// Package messages is an upstream that plays a strict server of the Messages API.
//
// It promises that a request which the real server refuses is refused here, with its status, its error type and its
// words; that a thinking block is accepted only where, and behind what, it was thought; and that tokens and the cache
// are accounted by the rules below. The same requests in the same order get the same bytes, on every machine. It knows
// nothing of who asks, and shares no code with it, so that it shares no mistake either.
//
// It listens on a loopback port (Start), is an http.Handler (New), and judges a body without any wire (Judge). What
// arrives is kept in memory: it is made for tests, not for load.
//
//	m := rules.ModelOf("claude-opus-5-5")
//	m.Window, m.Overflow = 64_000, rules.FailsInStream
//	s := scriptedtest.StartMessages(t, messages.Options{Models: map[string]rules.Model{"claude-opus-5-5": m}})
//	s.Next(messages.Turn{Blocks: []messages.Block{messages.Think("hm"), messages.Call("", "Bash", `{"c":"ls"}`)}},
//		messages.Turn{Refuse: rules.Overloaded()}, messages.Say("Done."))
//	… a client asks s.URL()+"/v1/messages" …
//	s.Refusals() // what broke a rule; Received has all requests, with tokens, usage and what became of them
//
// # What is asked
//
// POST …/v1/messages and …/v1/messages/count_tokens, with any query; HEAD and GET of "/" get 200, all else 404. A
// request is read, then judged, and a sound one is answered with the next Turn that was scripted (Next), or with what
// Options.Otherwise says. A refused request uses up no turn.
//
// # What is checked
//
// In this order: size of the body (413), the key (401), anthropic-version; that it is JSON, names of fields and beta
// headers that some need; each block's type, place and fields, and empty texts; max_tokens, thinking settings with the
// budget, temperature, tool_choice; roles, where a system message of the list may stand, prefill; tool_use ids, their
// results (all, in the next message, first, once), pairs of server tools; markers (4 of them, ttl, the longer before
// the shorter); thinking: its signature, what it is bound to, its place; the window.
//
// Consecutive messages of one role count as one. Package rules reads and judges all of this but thinking (thought) and
// size (account).
//
// # Thinking
//
// A signature binds the block's text and, on a Model that Binds, what stood before it: the system prompt, the tools,
// all blocks of the messages by value (key order, blanks, null fields and cache_control aside; a string is the same as
// one text block), and the thinking before it. The oldest thinking may be left out, and all of it; a gap may not be
// left, and what was left out may not come back. Where the client sends drop_block, what is invalid is dropped.
// Thinking of another model is dropped. On a model that does not bind, only the block itself and its place are
// checked.
//
// A system message of the list with clear_at "next_user_message" is not bound; nor is any on a Model with
// SystemUnbound. That is for clients which take a part of such a message back in the next request.
//
// In manual mode (thinking.type enabled) an open tool round begins with thinking, and its last answer with its own.
// An answer in manual mode begins its turn with thinking, whether that was scripted or not. Sign signs a conversation
// that was made up, as if all of it had been thought here.
//
// # Tokens
//
// A text has one token for each four bytes, rounded up, or what Options.Count says. A message costs 4, tools together
// 346; an image is 1 600, a PDF 3 000, a thinking block what was thought, whether it is shown or not. Tools count name,
// description and schema, calls name and input, results what is in them; other blocks count their JSON. Thinking of
// earlier turns is input only on a Model that KeepsThinking.
//
// # Cache
//
// Positions are tools, system blocks and message blocks, in this order. An entry is written for each marked position
// whose prefix has the Model's Minimum, and for no other. From each marker, 20 positions backwards with its own, the
// entries are looked up; the longest prefix found is read. A marker inside a result is one at the result. Entries live
// for their ttl after their last use, by a clock that only Advance moves. tool_choice, thinking settings, effort and
// whether there are images are part of what the messages' entries name; speed is part of what the system's name; model
// and credentials are part of all.
//
// # Left out
//
// Clearing by context_management (its edits are accepted and do nothing), threads, batches, files, server tools that
// run, and the merging of server_tool_use with client tools.
package messages
