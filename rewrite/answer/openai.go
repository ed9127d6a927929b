package answer

// OpenAI is what the dialects of OpenAI's APIs have in common.
type OpenAI struct{}

func (OpenAI) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"Authorization", "Bearer " + key}}
}

// MeantPath is nil: whatever a client leaves out of the path stands in its base URL.
func (OpenAI) MeantPath([]byte, func(header string) bool) []byte { return nil }

// Opening says nothing: usage stands at the end of an answer.
func (OpenAI) Opening([]byte) Counts { return NoCounts() }
