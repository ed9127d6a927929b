package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// credential is what requests are signed with.
type credential struct {
	id, secret, token string
	until             time.Time // zero: for good
}

// early is how long before its end a credential is replaced.
const early = 5 * time.Minute

// keyring finds credentials where Amazon's own tools look for them, in their order, and keeps one while it is good.
type keyring struct {
	region string
	http   *http.Client
	getenv func(string) string

	mu       sync.Mutex
	now      credential
	renewing bool // in the background
}

// get returns a credential that is good now. Shortly before its end another one is looked for in the background:
// whoever can be signed for does not wait for that.
func (k *keyring) get(ctx context.Context) (credential, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	left := time.Until(k.now.until)
	switch {
	case k.now.id != "" && (k.now.until.IsZero() || left > early):
		return k.now, nil
	case k.now.id != "" && left > 0:
		if !k.renewing {
			k.renewing = true
			go k.renew()
		}
		return k.now, nil
	}
	fresh, err := k.find(ctx)
	if err != nil {
		return credential{}, err
	}
	k.now = fresh
	return fresh, nil
}

// retry is how long after a failure a new credential is looked for again, while the old one is good.
const retry = 20 * time.Second

// renew looks for a credential, and takes it if it finds one. If not, it leaves the next try for later.
func (k *keyring) renew() {
	ctx, cancel := context.WithTimeout(context.Background(), retry)
	defer cancel()
	fresh, err := k.find(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.now, k.renewing = fresh, false
		return
	}
	time.AfterFunc(retry, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.renewing = false
	})
}

// find looks for a credential.
func (k *keyring) find(ctx context.Context) (credential, error) {
	for _, find := range []func(context.Context) (credential, error){
		k.ofEnvironment, k.ofWebIdentity, k.ofFile, k.ofContainer, k.ofMachine,
	} {
		c, err := find(ctx)
		if err != nil {
			return credential{}, fmt.Errorf("cannot get a credential for the bucket: %w", err)
		}
		if c.id != "" && c.secret != "" {
			return c, nil
		}
	}
	return credential{}, errors.New("there is no credential for the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
		"write ~/.aws/credentials, or give the machine a role")
}

func (k *keyring) ofEnvironment(context.Context) (credential, error) {
	return credential{id: k.getenv("AWS_ACCESS_KEY_ID"), secret: k.getenv("AWS_SECRET_ACCESS_KEY"),
		token: k.getenv("AWS_SESSION_TOKEN")}, nil
}

// ofFile reads the section of the profile in the file of Amazon's tools.
func (k *keyring) ofFile(context.Context) (c credential, err error) {
	path := k.getenv("AWS_SHARED_CREDENTIALS_FILE")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return c, nil // a container has none
		}
		path = filepath.Join(home, ".aws", "credentials")
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, found := strings.CutPrefix(line, "["); found {
			section = strings.TrimSpace(strings.TrimSuffix(name, "]"))
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if value = strings.TrimSpace(value); section != cmp.Or(k.getenv("AWS_PROFILE"), "default") {
			continue
		}
		switch strings.TrimSpace(key) {
		case "aws_access_key_id":
			c.id = value
		case "aws_secret_access_key":
			c.secret = value
		case "aws_session_token":
			c.token = value
		}
	}
	return c, err
}

// ofWebIdentity has a token of the cluster made a credential, as pods with a role of their own do.
func (k *keyring) ofWebIdentity(ctx context.Context) (c credential, err error) {
	file, role := k.getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), k.getenv("AWS_ROLE_ARN")
	if file == "" || role == "" {
		return c, nil
	}
	token, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	at := cmp.Or(k.getenv("AWS_ENDPOINT_URL_STS"), "https://sts."+k.region+".amazonaws.com")
	form := url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {role},
		"RoleSessionName":  {cmp.Or(k.getenv("AWS_ROLE_SESSION_NAME"), "epitome")},
		"WebIdentityToken": {strings.TrimSpace(string(token))}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return c, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	text, err := k.ask(req)
	if err != nil {
		return c, err
	}
	c = credential{id: within(text, "AccessKeyId"), secret: within(text, "SecretAccessKey"), token: within(text, "SessionToken")}
	c.until, err = time.Parse(time.RFC3339, within(text, "Expiration"))
	return c, err
}

// ofContainer asks whom the platform names, as ECS and EKS do.
func (k *keyring) ofContainer(ctx context.Context) (credential, error) {
	at := k.getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := k.getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		at = "http://169.254.170.2" + path
	}
	if at == "" {
		return credential{}, nil
	}
	token := k.getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := k.getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return credential{}, err
		}
		token = strings.TrimSpace(string(text))
	}
	return k.read(ctx, at, http.Header{"Authorization": {token}})
}

// ofMachine asks the service that machines at Amazon have, for the role that they have.
func (k *keyring) ofMachine(ctx context.Context) (credential, error) {
	if strings.EqualFold(k.getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return credential{}, nil
	}
	at := strings.TrimSuffix(cmp.Or(k.getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "http://169.254.169.254"), "/")
	ask := func(method, path string, header http.Header) (string, error) {
		req, err := http.NewRequestWithContext(ctx, method, at+"/latest/"+path, nil)
		if err != nil {
			return "", err
		}
		req.Header = header
		text, err := k.ask(req)
		return strings.TrimSpace(string(text)), err
	}
	token, err := ask(http.MethodPut, "api/token", http.Header{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {"300"}})
	if err != nil {
		return credential{}, nil // there is no such service
	}
	header := http.Header{"X-Aws-Ec2-Metadata-Token": {token}}
	const roles = "meta-data/iam/security-credentials/"
	role, err := ask(http.MethodGet, roles, header)
	if err != nil {
		return credential{}, err
	}
	role, _, _ = strings.Cut(role, "\n")
	return k.read(ctx, at+"/latest/"+roles+role, header)
}

// read reads a credential that is told in JSON.
func (k *keyring) read(ctx context.Context, at string, header http.Header) (c credential, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return c, err
	}
	req.Header = header
	text, err := k.ask(req)
	if err != nil {
		return c, err
	}
	var said struct {
		AccessKeyId, SecretAccessKey, Token string //nolint:revive // as they are spelled there
		Expiration                          time.Time
	}
	if json.Unmarshal(text, &said) != nil {
		return c, errors.New("what is told of the role cannot be read")
	}
	return credential{said.AccessKeyId, said.SecretAccessKey, said.Token, said.Expiration}, nil
}

// ask sends a request for a credential. No error repeats what was answered.
func (k *keyring) ask(req *http.Request) ([]byte, error) {
	resp, err := k.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &refusal{resp.StatusCode, within(text, "Code")}
	}
	return text, err
}
