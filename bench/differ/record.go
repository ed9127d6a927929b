package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The fixture of recorded forms is one archive: the data folder of a build that has played some talks, and of each talk
// the last request, one further request, and what the build has sent for them.
const (
	fixtureName = "forms.tar.gz"
	dataPart    = "data/"
	talkPart    = "talks/"
	settingPart = "settings/"

	// folderMark stands in the fixture for the data folder of whoever replays it.
	folderMark = "@FOLDER@"
)

// recorded is a talk as the fixture has it.
type recorded struct {
	Name     string      `json:"name"`
	Settings string      `json:"settings"`
	Path     string      `json:"path,omitempty"` // empty is that of Chat Completions
	Header   http.Header `json:"header"`
	Place    int         `json:"place"` // the number by which its scope is named
	requests [][]byte    // the last one, and a further one if there is one
	sent     [][]byte    // what was sent for them
}

// Models beside the usual small one: one is believed to hold more than it does, one has much room, and one binds its
// thinking to what stands before it.
const (
	narrowModel = "narrow"
	wideModel   = "wide"
	boundModel  = "bound"
)

// settings returns the configurations of the talks by name. What is kept is kept for 50 years, and providers never
// forget what they have cached, so it does not matter when the fixture is replayed.
func settings() map[string]string {
	const all = `scope = "header:` + scopeHeader + `"
[rewrite]
floor = "1KB"
cache_life = "0s"
clear_arguments = true
bound_thinking = { "` + boundModel + `" = true }
%s
[window]
default = 8000
models = { "*" = 8000, "` + narrowModel + `" = 64000, "` + wideModel + `" = 128000 }
probe = false
[summarize]
mode = "intent"
prepare = "off"
[store]
keep = "438000h"
`
	return map[string]string{usual: fmt.Sprintf(all, ""), textOnly: fmt.Sprintf(all, "text_only = true")}
}

// record plays the talks by the old binary, checks that it replays what it has recorded, and writes the fixture.
func record(ctx context.Context, o options, root string) error {
	s := stage{root: root, binary: o.old}
	var err error
	if s.upstream, err = startProvider(); err != nil {
		return err
	}
	defer s.upstream.close()
	const held = 20_000 // bytes that the narrow model takes
	s.upstream.narrow[narrowModel] = held
	a, err := s.fixture(ctx)
	if err != nil {
		return err
	}
	s.upstream.narrow = nil
	if a, err = s.addFurther(ctx, a); err != nil {
		return err
	}
	packed, err := a.pack()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.record, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.record, fixtureName), packed, 0o644)
}

// stage is where a binary plays talks.
type stage struct {
	root     string // folder for all that is written
	binary   string
	upstream *provider
}

// playing is what one start of the binary plays.
type playing struct {
	settings string // text of the configuration
	folder   string // data folder
	plays    []play
	wanted   func(play) bool
}

// play starts the binary, sends all requests of the plays that are wanted, one after the other, and stops it.
func (s *stage) play(ctx context.Context, x playing) (*journal, error) {
	j := newJournal(len(x.plays))
	s.upstream.notes.Store(j)
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(s.root, "talks.toml")
	text := fmt.Sprintf("upstream = %q\ndata = %q\n%s", s.upstream.url, x.folder, x.settings)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p, err := start(ctx, s.binary, listen, config)
	if err != nil {
		return nil, err
	}
	c := newCaller(p.url, j)
	defer c.client.CloseIdleConnections()
	for k := range x.plays {
		for turn, q := range x.plays[k].requests {
			if err == nil && x.wanted(x.plays[k]) {
				err = c.send(ctx, q, k, turn)
			}
		}
	}
	return j, errors.Join(err, p.stop())
}

// fixture plays all talks from their beginning.
func (s *stage) fixture(ctx context.Context) (archive, error) {
	var a archive
	all := talks()
	plays := make([]play, len(all))
	for k, t := range all {
		plays[k] = t.play()
	}
	folder := filepath.Join(s.root, "data")
	texts := settings()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		wanted := func(p play) bool { return p.settings == name }
		j, err := s.play(ctx, playing{text, folder, plays, wanted})
		if err != nil {
			return nil, err
		}
		a = append(a, archived{settingPart + name + ".toml", []byte(text), time.Unix(0, 0)})
		for k, t := range all {
			if t.settings != name {
				continue
			}
			if err := a.addTalk(t, k, &j.tracks[k]); err != nil {
				return nil, err
			}
		}
	}
	return a, a.addFolder(dataPart, folder)
}

// play returns the talk from its beginning: a request wherever the assistant has answered, and the last one.
func (t *talk) play() play {
	p := play{name: t.name, settings: t.settings}
	for n := 1; n <= len(t.messages); n++ {
		if n < len(t.messages) && t.messages[n].(message)["role"] != "assistant" {
			continue
		}
		body := func() []byte { return t.body(n) }
		q := request{path: t.dialect.path, header: t.requestHeader(), body: body}
		p.requests = append(p.requests, q)
	}
	return p
}

// addTalk adds the talk's last request, and what was sent for it.
func (a *archive) addTalk(t *talk, place int, noted *track) error {
	about, err := json.Marshal(recorded{Name: t.name, Settings: t.settings, Place: place,
		Path: t.dialect.path, Header: t.requestHeader()})
	if err != nil {
		return err
	}
	bodies := noted.bodies(sent)
	last := t.body(len(t.messages))
	add := func(name string, text []byte) {
		*a = append(*a, archived{talkPart + t.name + "/" + name, text, time.Unix(0, 0)})
	}
	add("about.json", about)
	add("last.json", last)
	add("last.sent", bodies[len(bodies)-1])
	if !t.last {
		t.further()
		add("further.json", t.body(len(t.messages)))
	}
	return nil
}

// bodies returns the bodies of one kind.
func (t *track) bodies(kind string) (all [][]byte) {
	r := t.read()
	for n, body := r.next(); n != nil; n, body = r.next() {
		if n.kind == kind {
			all = append(all, body)
		}
	}
	return all
}

// recordings returns the talks of the archive.
func (a archive) recordings() (all []recorded, err error) {
	for _, f := range a {
		if !strings.HasPrefix(f.path, talkPart) || filepath.Base(f.path) != "about.json" {
			continue
		}
		var r recorded
		if err := json.Unmarshal(f.text, &r); err != nil {
			return nil, fmt.Errorf("cannot read %s in the archive: %w", f.path, err)
		}
		for _, name := range []string{"last", "further"} {
			if text := a.find(talkPart + r.Name + "/" + name + ".json"); text != nil {
				r.requests = append(r.requests, text)
				r.sent = append(r.sent, a.find(talkPart+r.Name+"/"+name+".sent"))
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// replay sends the requests of the archive to the binary, on a copy of the archive's data folder. It returns what was
// sent, by talk; the copy's path is marked in it.
func (s *stage) replay(ctx context.Context, a archive, folder string) (all []recorded, err error) {
	if err := a.extract(dataPart, folder); err != nil {
		return nil, err
	}
	if all, err = a.recordings(); err != nil {
		return nil, err
	}
	plays := make([]play, len(all))
	for _, r := range all {
		p := play{name: r.Name, settings: r.Settings}
		for _, body := range r.requests {
			p.requests = append(p.requests, request{path: cmp.Or(r.Path, chatPath), header: r.Header,
				body: func() []byte { return body }})
		}
		plays[r.Place] = p
	}
	for i := range all {
		all[i].sent = nil
	}
	for _, name := range slices.Sorted(maps.Keys(settings())) {
		wanted := func(p play) bool { return p.settings == name }
		text := string(a.find(settingPart + name + ".toml"))
		j, err := s.play(ctx, playing{text, folder, plays, wanted})
		if err != nil {
			return nil, err
		}
		for i, r := range all {
			if r.Settings != name {
				continue
			}
			if n := len(j.tracks[r.Place].bodies(asked)); n > 0 {
				return nil, fmt.Errorf("cannot replay %s: epitome has asked a model %d times", r.Name, n)
			}
			for _, body := range j.tracks[r.Place].bodies(sent) {
				all[i].sent = append(all[i].sent, bytes.ReplaceAll(body, []byte(folder), []byte(folderMark)))
			}
		}
	}
	return all, nil
}

// addFurther replays the archive twice, in folders whose paths have other lengths, and adds what was sent for the
// further requests. All else must be what it was.
func (s *stage) addFurther(ctx context.Context, a archive) (archive, error) {
	first, err := s.replay(ctx, a, filepath.Join(s.root, "second"))
	if err != nil {
		return nil, err
	}
	again, err := s.replay(ctx, a, filepath.Join(s.root, "third", strings.Repeat("far", 10), "from", "here"))
	if err != nil {
		return nil, err
	}
	for i, r := range first {
		for k := range r.sent {
			where := fmt.Sprintf("%s, request %d, in another folder", r.Name, k+1)
			if d := differ(where, r.sent[k], again[i].sent[k]); d != nil {
				return nil, fmt.Errorf("cannot record what depends on the folder: %s", d)
			}
		}
		if d := differ(r.Name+", replayed", a.find(talkPart+r.Name+"/last.sent"), r.sent[0]); d != nil {
			return nil, fmt.Errorf("cannot record what is not replayed: %s", d)
		}
		if len(r.sent) > 1 {
			a = append(a, archived{talkPart + r.Name + "/further.sent", r.sent[1], time.Unix(0, 0)})
		}
	}
	return a, nil
}
