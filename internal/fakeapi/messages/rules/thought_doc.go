// A Signer signs thinking, and judges whether it stands where it was thought.
//
// It promises that a signature which Signer made is accepted by Check behind exactly what stood before it, and behind
// nothing else on a model that binds: the system prompt, the tools that are not deferred, all blocks of messages by
// value, and the thinking before it. The oldest thinking may be missing, a gap may not be. A compaction that was sealed
// here stands for what it replaced. System messages that pass with the turn are not bound, for the server takes them
// out by itself.
//
// All state is in the signature, so that any number of servers accept what one has thought; only which calls came with
// thinking, the caller has to remember.

package rules
