package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// A request is signed as a library signs it that many services are used with.
func TestSignatureIsThatOfALibrary(t *testing.T) {
	for _, by := range []credential{{id: "AKID", secret: "secret"}, {id: "AKID", secret: "s/+=", token: "a token"}} {
		for _, at := range []Address{
			{Bucket: "team", Secure: true}, {Bucket: "te.am", Endpoint: "s3.example.com:9000", Region: "eu-west-1"},
			{Bucket: "team", Endpoint: "h:1", PathStyle: true},
		} {
			for _, key := range []string{"p/abc.txt", "a b/ü+&=?~_.txt"} {
				s := newService(at, time.Second)
				body := []byte("content")
				fresh := func() *http.Request {
					at := s.url(key)
					at.RawQuery = "a=b%2Fc%20d%2B%C3%BC&prefix=p%2F"
					req, err := http.NewRequest(http.MethodPut, at.String(), bytes.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					req.Header.Set("Content-Type", "text/plain")
					req.Header.Set(sizeKey, "7")
					return req
				}
				theirs := fresh()
				sum := sha256.Sum256(body)
				theirs.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
				theirs = signer.SignV4(*theirs, by.id, by.secret, by.token, s.region)
				now, err := time.Parse("20060102T150405Z", theirs.Header.Get("X-Amz-Date"))
				if err != nil {
					t.Fatal(err)
				}
				ours := fresh()
				sign(ours, body, by, signing{s.region, now})
				if got, want := ours.Header.Get("Authorization"), theirs.Header.Get("Authorization"); got != want {
					t.Errorf("%s, %s:\n%s, want\n%s", ours.URL, by.token, got, want)
				}
			}
		}
	}
}

// keyringOf finds credentials in an environment alone.
func keyringOf(env map[string]string) *keyring {
	return &keyring{region: "eu-west-1", http: &http.Client{Timeout: patience},
		getenv: func(name string) string { return env[name] }}
}

func TestCredentialsAreFound(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	told := `{"AccessKeyId":"role","SecretAccessKey":"rs","Token":"rt","Expiration":"` + soon + `"}`
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/sts" && strings.Contains(string(body), "WebIdentityToken=of+the+pod") && strings.Contains(string(body), "RoleArn=arn"):
			_, _ = io.WriteString(w, "<R><Credentials><AccessKeyId>pod</AccessKeyId><SecretAccessKey>ps</SecretAccessKey>"+
				"<SessionToken>pt</SessionToken><Expiration>"+soon+"</Expiration></Credentials></R>")
		case r.URL.Path == "/container" && r.Header.Get("Authorization") == "theirs":
			_, _ = io.WriteString(w, told)
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
			_, _ = io.WriteString(w, "session")
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "session":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/":
			_, _ = io.WriteString(w, "my-role\n")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/my-role":
			_, _ = io.WriteString(w, told)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer web.Close()
	f := func(env map[string]string, want credential) {
		t.Helper()
		if env["AWS_SHARED_CREDENTIALS_FILE"] == "" {
			env["AWS_SHARED_CREDENTIALS_FILE"] = filepath.Join(folder, "absent")
		}
		got, err := keyringOf(env).get(context.Background())
		passing := !got.until.IsZero()
		got.until = time.Time{}
		if got != want || err != nil || passing != (want.token != "" && want.id != "env") {
			t.Errorf("%v: got %+v, %v; want %+v", env, got, err, want)
		}
	}
	file := write("credentials", "[other]\naws_access_key_id = o\naws_secret_access_key=os\n# a word\n[ default ]\naws_access_key_id=d\n"+
		"aws_secret_access_key = ds=\n")
	f(map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "es", "AWS_SESSION_TOKEN": "et",
		"AWS_SHARED_CREDENTIALS_FILE": file}, credential{id: "env", secret: "es", token: "et"})
	f(map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file}, credential{id: "d", secret: "ds="})
	f(map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "other"}, credential{id: "o", secret: "os"})
	f(map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": write("token", "of the pod\n"), "AWS_ROLE_ARN": "arn",
		"AWS_ENDPOINT_URL_STS": web.URL + "/sts", "AWS_SHARED_CREDENTIALS_FILE": file}, credential{id: "pod", secret: "ps", token: "pt"})
	f(map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": web.URL + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "theirs"},
		credential{id: "role", secret: "rs", token: "rt"})
	f(map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": web.URL}, credential{id: "role", secret: "rs", token: "rt"})
	none := keyringOf(map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(folder, "absent")})
	if _, err := none.get(t.Context()); err == nil || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID") {
		t.Errorf("without any: %v", err)
	}
}
