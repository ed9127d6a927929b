package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// bill is a bill of materials in CycloneDX 1.5.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Serial     string      `json:"serialNumber"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
	Depends    []depends   `json:"dependencies"`
}

type metadata struct {
	Timestamp string     `json:"timestamp"`
	Component component  `json:"component"`
	Settings  []property `json:"properties"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Package    string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type depends struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// writeBill is the bill of a build, from what the program itself says that it is made of.
func writeBill(b build, program []byte, parts []part, date time.Time) ([]byte, error) {
	sum := sha256.Sum256(program)
	own := component{Type: "application", Ref: "epitome", Name: "epitome", Version: b.version(),
		Package: packageURL("epitome", b.version()), Licences: named([]string{"Apache-2.0"}),
		Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}}
	all := bill{Format: "CycloneDX", Spec: "1.5", Version: 1, Serial: serial(sum), Components: []component{},
		Metadata: metadata{Timestamp: date.Format(time.RFC3339), Component: own,
			Settings: []property{{"go:version", b.module.GoVersion}}}}
	for _, s := range b.module.Settings {
		all.Metadata.Settings = append(all.Metadata.Settings, property{"go:build:" + s.Key, s.Value})
	}
	uses := depends{Ref: own.Ref, On: []string{}}
	for _, p := range parts {
		c := component{Type: "library", Name: p.path, Version: p.version, Licences: named(p.licences)}
		if c.Ref = p.path + "@" + p.version; p.table {
			c.Type = "data"
		} else {
			c.Package = packageURL(p.path, p.version)
		}
		if p.sum != "" {
			c.Properties = []property{{"go:sum", p.sum}}
		}
		all.Components = append(all.Components, c)
		uses.On = append(uses.On, c.Ref)
	}
	all.Depends = []depends{uses}
	text, err := json.MarshalIndent(all, "", "  ")
	return append(text, '\n'), err
}

// serial is the number of a bill: that of the program, so that the same program has the same bill.
func serial(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of the custom version, by RFC 9562
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// packageURL names a module in the way of all ecosystems.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
}

func named(ids []string) (all []licence) {
	for _, id := range ids {
		var l licence
		l.Licence.ID = id
		all = append(all, l)
	}
	return all
}
