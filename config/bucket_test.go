package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBucketsThatMakeNoSenseAreRefused(t *testing.T) {
	f := refusals(t)
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	at := "[offload]\nbucket = \"s3://b/p\"\n"
	f(at, "")
	f(at+`secret_file = "`+write("good", strings.Repeat("0a", 32)+"\n")+`"`, "")
	f(at+`secret_file = "`+write("short", "planted")+`"`, "cannot use offload.secret_file: it does not hold 64 hexadecimal digits; "+
		"make it with: openssl rand -hex 32")
	f("[offload]\nsecret_file = \"x\"", "cannot use offload.secret_file without offload.bucket: in a folder the secret lies "+
		"beside the artifacts; remove it")
	f("[offload]\nbucket = \"https://b\"", "cannot use offload.bucket: write s3://BUCKET/PREFIX, without credentials; they come "+
		"from the environment")
}
