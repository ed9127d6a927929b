package config

import (
	"testing"

	"epitome/config/configtest"
)

func TestSettingsThatSeveralEpitomesCannotShareAreRefused(t *testing.T) {
	f := refusals(t)
	const sound = "[offload]\nfolder = \"/mnt/shared\"\n"
	f("[store]\nurl = \"redis://a\"\n", "cannot use store.url without offload.folder: what is taken out of conversations "+
		"must lie where all epitomes find it; write the absolute path of a folder that they share, or a bucket")
	f("[store]\nurl = \"redis://a\"\n[offload]\nfolder = \"shared\"\n", "cannot use store.url without offload.folder: what "+
		"is taken out of conversations must lie where all epitomes find it; write the absolute path of a folder that they share, or a bucket")
	f(sound, "cannot use offload.folder: it is for epitomes that share a store; write its url in [store], or give a folder "+
		"with data")
	f(sound+"[store]\nurl = \"redis://:secret@a,b\"\n", "cannot use store.url: it has several hosts; write redis+sentinel:// "+
		"or redis+cluster:// before them")
	f(sound+"[store]\nurl = \"redis://a\"\nprefix = \"{x}\"\n", "cannot use store.prefix \"{x}\": write letters, digits and "+
		"signs, without spaces and braces")
	f(sound+"[store]\nurl = \"redis://a\"\ntimeout = \"1m\"\n", "cannot use store.timeout 1m0s: write 1ms to 5s")
	f(sound+"address = \"url\"\n[store]\nurl = \"redis://a\"\n", "cannot use offload.address \"url\" with store.url: agents "+
		"would be told the address of one epitome among several; write in offload.url the one that leads to all")
	f("[offload]\naddress = \"auto\"\nbucket = \"s3://b/p\"\n[store]\nurl = \"redis://a\"\n", "cannot use offload.address "+
		"\"auto\" with store.url: agents would be told the address of one epitome among several; write in offload.url the one "+
		"that leads to all")
	f("listen = \"0.0.0.0:7070\"\n[offload]\nurl = \"http://127.0.0.1:7070/-/artifacts/\"\n", "cannot use offload.url "+
		"http://127.0.0.1:7070/-/artifacts/: it is an address of this machine alone, and epitome listens beyond it; write the "+
		"one by which agents reach it")
	c := Defaults(configtest.Text())
	c.Store.URL, c.Offload.URL = "redis://a", "https://team.example.com/x"
	if got := ArtifactsAt(c, "127.0.0.1:7070"); got != "https://team.example.com/x/" {
		t.Error(got)
	}
}
