package daemon

import (
	"epitome/config"
	"epitome/console/pages"
)

// openPages makes the pages over what happens, what was taken out, and the configuration in force.
func (d *Daemon) openPages(conf config.Config) *pages.Pages {
	return pages.New(pages.Config{
		Source: d.book, Edits: d.shapers.edits, Open: Artifacts{d.shapers.storage.shelf}.Open,
		Settings: d.settings, Memory: d.shapers.memory, Reference: conf.Reference(),
		Version: Version(), Address: d.Address(), Mode: func() string { return d.config.Load().Mode },
	})
}

// settings are the values in force, without secrets.
func (d *Daemon) settings() (all []pages.Setting) {
	for _, v := range d.config.Load().List() {
		from := ""
		if v.Changed {
			from = "your configuration"
		}
		all = append(all, pages.Setting{Key: v.Key, Value: v.Text, From: from, Secret: v.Secret})
	}
	return all
}
