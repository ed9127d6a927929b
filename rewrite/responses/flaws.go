package responses

import "epitome/rewrite/conversation"

// Flaws returns all rules that the request breaks.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw { return nil }
