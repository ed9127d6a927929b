package prose

// What a summary is made of.
const (
	ModeAuto     = "auto"     // intent for a small window, else hybrid
	ModeLLM      = "llm"      // a model's prose, and by code files, commands, names and index
	ModeIntent   = "intent"   // by code alone: all that was called, too
	ModeHybrid   = "hybrid"   // both
	ModeWindow   = "window"   // nothing new: the oldest groups go, and a model's earlier prose stays
	ModeLossless = "lossless" // where each turn lies
)

// How much a summary says.
const (
	DetailHigh     = "high"
	DetailMedium   = "medium"
	DetailLow      = "low"
	DetailTruncate = "truncate" // the task alone
)

// Modes are all that a summary may be made of, as they are offered to users.
func Modes() []string {
	return []string{ModeAuto, ModeLLM, ModeIntent, ModeHybrid, ModeWindow, ModeLossless}
}

// Details are all levels of detail of a summary, as they are offered to users.
func Details() []string { return []string{DetailHigh, DetailMedium, DetailLow, DetailTruncate} }
