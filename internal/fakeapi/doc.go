// Package fakeapi is an HTTP/1.1 upstream that plays a script, exact to the byte.
//
// It promises that the peer receives the bytes the script says and no others,
// in the writes the script says; that every request is kept as it arrived
// (order, case and duplicates of its headers included); and that the order of
// what happened can be read from a trace. It listens on a loopback port, serves
// each connection in goroutines of its own and has ended all of them when
// Close returns. A wait within a section for somebody else ends after two minutes at the latest.
//
// What is requested and traced is kept in memory as long as the Upstream is: it
// is made for tests and demonstrations, not for load. Nor is it lenient: requests
// are read strictly (CRLF only, no folded lines, one framing, bodies of up to
// 256 MiB), and a malformed one is a problem, answered with 400.
//
// # Script
//
// A script is a txtar archive. Text before the first marker is a comment. A
// file named "file:NAME" is data; its text always ends in a newline. Any other
// file is a section: its name says which requests it answers, its lines what is
// done with one of them.
//
//	-- POST /v1/chat/completions --
//	expect-header Content-Type: application/json
//	expect-body-file request.json
//	status 200 OK
//	header Content-Type: text/event-stream
//	event {"n":1}
//	await more
//	event [DONE]
//	end
//	-- file:request.json --
//	{"stream":true}
//
// A section's name is a method and a raw target. A method of "*" matches any; a
// target ending in "*" matches all that begin so. A request is played the first
// section, in the order of the script, that matches and has not been played;
// one with the line "repeat" is never used up. A request without a section is
// a problem and is answered with 599.
//
// A line is one command. Blank lines and lines beginning with # are skipped.
// TEXT is either the rest of the line without surrounding blanks, or a quoted
// Go string with escapes. What is sent is sent as written: no Date, no Server.
//
// Expectations; a failed one is a problem and the section is played nevertheless:
//
//	expect-header NAME: VALUE  a header with exactly this name and value came
//	expect-no-header NAME      no header of this name, in any case, came
//	expect-body TEXT           the decoded body is TEXT
//	expect-body-file NAME      the decoded body is the data file
//	expect-body-size N         the decoded body has N bytes
//
// How the section treats the connection; the reading lines stand before any
// line that is played:
//
//	repeat              answer any number of requests
//	keep-alive off      add "Connection: close" and close after the answer
//	no-length           add no framing header; the body ends where the connection does
//	slow-read N PAUSE   read the body N bytes at a time, with a pause after each
//	early               play before the body is read; it is read afterwards
//	stop-reading        never read the body; at most 8 KB of it leave the socket
//
// The answer, played from top to bottom:
//
//	interim CODE REASON   an interim head, with the header lines that follow
//	status CODE REASON    the head, with the header lines that follow; without a
//	                      REASON the line is "HTTP/1.1 CODE " with its blank
//	header NAME: VALUE    one raw header line
//	flush                 ends the head; it is sent without delay in any case
//	body TEXT             a part of a body of fixed length
//	chunk TEXT            one chunk, in one write
//	event TEXT            one chunk holding "data: TEXT" and an empty line
//	trailer NAME: VALUE   one raw trailer line, sent by end
//	end                   the last chunk
//	raw TEXT              these bytes
//
// Each of body, chunk and raw also comes as body-file NAME (a data file) and as
// body-size N BYTE (N times the same byte; x when it is left out).
//
// A head gets one framing header after the script's own: Transfer-Encoding
// when there are chunks, otherwise Content-Length with the size of all body
// lines. It gets none when the script gives one of the two or says no-length, nor
// in an answer to HEAD or of 1xx, 204 or 304; and no Content-Length when there is
// a raw part, or when there is no body and a closing line below ends the section.
//
// Between and after them:
//
//	read-body      after early: read the body now
//	pause D        wait for a duration, as in 20ms
//	await NAME     wait for Release(NAME)
//	hangup         close with FIN; unread request bytes are drained for up to 2 s
//	               first, but not after stop-reading, where the kernel may add RST
//	reset          close with RST
//	await-close    drop what arrives and wait until the peer has closed or reset
//	upgrade        echo what arrives until the peer closes
//
// The last four end a section. A request with "Expect: 100-continue" is sent
// the 100 before its body is read, except after early, where "interim 100
// Continue" is the script's affair. The connection is kept after an answer
// unless the request or the section says otherwise.
//
// # Trace
//
// N is the number of the connection, from 1:
//
//	accept N               a connection was accepted
//	request N METHOD TARGET a head has arrived
//	body N SIZE            its body has been read whole
//	sent N continue        the automatic 100 was written; likewise, once written:
//	sent N interim CODE, sent N head CODE, sent N end
//	sent N body K, sent N chunk K, sent N raw K (K counts within the section)
//	waiting N NAME         an await line waits; "waiting N close" for await-close
//	upgraded N             echoing begins
//	gone N EOF             the peer closed; likewise gone N reset, gone N error TEXT
//	closed N               this side has closed
//
// The line about what was sent is written just after the bytes: a test that has
// received them awaits the line before it looks at the trace.
//
// While a section is played the connection is watched, so gone stands in the
// trace as soon as it can be known. It cannot while unread bytes of a body lie
// before it: more than 64 KB of them after early, any after stop-reading.
package fakeapi
