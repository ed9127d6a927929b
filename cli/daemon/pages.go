package daemon

import (
	"epitome/config"
	"epitome/console/pages"
)

// openPages makes the pages over what happens, what was taken out, and the configuration in force.
func (d *Daemon) openPages() *pages.Pages {
	return pages.New(pages.Config{
		Source: d.book, Edits: d.shapers.edits, Open: d.shapers.storage.shelf.Open,
		Settings: func() []config.Value { return d.config.Load().List() }, Memory: d.shapers.memory,
		Version: Version(), Address: d.Address(), Mode: func() string { return d.config.Load().Mode },
	})
}
