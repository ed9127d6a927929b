package instance

import (
	"os"
	"slices"
)

// RunVariable names, within a command that a run has started, where the proxy listens that its requests go through, and
// FolderVariable the folder with that proxy's card: it need not belong to the data folder of which commands there read.
const (
	RunVariable    = "EPITOME_RUN"
	FolderVariable = "EPITOME_RUN_FOLDER"
)

// Around is the proxy of the run within which this program runs, and no other one. listen is where it is said to
// listen, empty outside of a run; card is nil if it does not run any more. A run of an older epitome does not name the
// folder: then folders says where to look.
func Around(folders func() []string) (card *Card, listen string) {
	if listen = os.Getenv(RunVariable); listen == "" {
		return nil, ""
	}
	in := []string{os.Getenv(FolderVariable)}
	if in[0] == "" {
		in = folders()
	}
	running := RunningIn(in)
	at := slices.IndexFunc(running, func(c *Card) bool { return c.Listen == listen })
	if at < 0 {
		return nil, listen
	}
	return running[at], listen
}
