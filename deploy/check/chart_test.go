// Package check tests what deploy has for Kubernetes, in a module of its own that the program does not need.
package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/strvals"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const folder = "../helm/epitome"

// decoder decodes Kubernetes' own types, and refuses unknown fields.
var decoder = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// example returns the values of an example with some set to others, as helm's --set does.
func example(t *testing.T, name, set string) chartutil.Values {
	t.Helper()
	values, err := chartutil.ReadValuesFile("../helm/values-examples/" + name)
	if err == nil {
		err = strvals.ParseInto(set, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// render returns the objects of the chart in a folder or an archive.
func render(t *testing.T, path string, values chartutil.Values) (objects []string, err error) {
	t.Helper()
	release := chartutil.ReleaseOptions{Name: "epitome", Namespace: "agents", IsInstall: true}
	chart, err := loader.Load(path)
	if err == nil {
		values, err = chartutil.ToRenderValues(chart, values, release, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, values)
	for _, text := range files {
		for text := range strings.SplitSeq("\n"+text, "\n---\n") {
			if strings.Contains(text, "\nkind: ") {
				objects = append(objects, text)
			}
		}
	}
	return objects, err
}

// The examples pass lint, are valid objects, and have a config.toml that epitome starts with.
func TestExamples(t *testing.T) {
	program, secret := filepath.Join(t.TempDir(), "epitome"), filepath.Join(t.TempDir(), "secret")
	_ = exec.Command("go", "build", "-C", "../..", "-o", program, ".").Run() // without it check cannot run
	_ = os.WriteFile(secret, []byte(strings.Repeat("5e", 32)), 0o600)        // check names a missing one
	for name, want := range map[string]int{"single.yaml": 4, "ha.yaml": 7} {
		for _, m := range lint.All(folder, example(t, name, ""), "agents", true).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %s", name, m)
			}
		}
		objects, err := render(t, folder, example(t, name, ""))
		if err != nil || len(objects) != want {
			t.Errorf("%s: %d objects, want %d; %v", name, len(objects), want, err)
		}
		for _, text := range objects {
			object, _, err := decoder.Decode([]byte(text), nil, nil)
			if runtime.IsNotRegisteredError(err) { // a kind of the Prometheus operator
				err = yaml.UnmarshalStrict([]byte(text), new(map[string]any))
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", name, err, text)
			}
			if config, ok := object.(*core.ConfigMap); ok {
				text := strings.ReplaceAll(config.Data["config.toml"], "/etc/epitome/secret/secret", secret)
				check := exec.Command(program, "check", "--config", "/dev/stdin")
				check.Stdin = strings.NewReader(text)
				check.Env = []string{"HOME=" + t.TempDir(), "OPENAI_API_KEY=k", "REDIS_PASSWORD=p",
					"EPITOME_CONSOLE_TOKEN=0123456789abcdef", "AWS_ACCESS_KEY_ID=i", "AWS_SECRET_ACCESS_KEY=s"}
				if out, err := check.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s of\n%s", name, err, out, text)
				}
			}
		}
	}
}

// A pod has the variables that are named, and not all keys of the Secret that they are in.
func TestVariables(t *testing.T) {
	objects, err := render(t, folder, example(t, "ha.yaml", ""))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, text := range objects {
		object, _, _ := decoder.Decode([]byte(text), nil, nil)
		if d, ok := object.(*apps.Deployment); ok {
			container := d.Spec.Template.Spec.Containers[0]
			for _, from := range container.EnvFrom {
				names = append(names, "all of "+from.SecretRef.Name)
			}
			for _, v := range container.Env {
				names = append(names, v.Name)
			}
		}
	}
	want := "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY OPENAI_API_KEY REDIS_PASSWORD EPITOME_CONSOLE_TOKEN"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the variables are %s", got)
	}
}

// epitome has a user of its own in compose's S3 server, and parts of others have a version or a digest.
func TestComposeGivesNoRoot(t *testing.T) {
	type service struct {
		Image       string
		Environment map[string]string
	}
	var compose struct{ Services map[string]service }
	text, err := os.ReadFile("../compose/compose.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &compose)
	}
	if err != nil {
		t.Fatal(err)
	}
	root := compose.Services["s3"].Environment["ROOT_SECRET_KEY"]
	variable := regexp.MustCompile(`\w+`)
	got := compose.Services["epitome-1"].Environment["AWS_SECRET_ACCESS_KEY"]
	if root == "" || got == "" || variable.FindString(root) == variable.FindString(got) {
		t.Errorf("epitome has %s, and the root of the S3 server %s", got, root)
	}
	pinned := regexp.MustCompile(`^epitome$|:v?[0-9.]+(@sha256:[0-9a-f]{64})?$`)
	for name, service := range compose.Services {
		if !pinned.MatchString(service.Image) {
			t.Errorf("the image of %s is %s", name, service.Image)
		}
	}
}

// pack returns the chart's archive of a release, which release/files.sh makes in a folder of the test.
func pack(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	for _, name := range []string{"README.md", "deploy", "release"} {
		root, err := filepath.Abs("../..")
		if err == nil {
			err = os.Symlink(filepath.Join(root, name), filepath.Join(work, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files := exec.Command("sh", "release/files.sh", "owner/name", "v1.2.3")
	files.Dir = work
	if out, err := files.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(work, "build/epitome-chart.tgz")
}

// The chart of a release has all alerts, as the folder has.
func TestAlerts(t *testing.T) {
	rules, err := os.ReadFile("../../docs/grafana/alerts.yml")
	alerts := regexp.MustCompile(`- alert: \w+\n`).FindAllString(string(rules), -1)
	if err != nil || len(alerts) == 0 {
		t.Fatalf("%d alerts; %v", len(alerts), err)
	}
	for _, path := range []string{folder, pack(t)} {
		objects, err := render(t, path, example(t, "single.yaml", "prometheusRule.enabled=true"))
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(objects, "")
		for _, alert := range alerts {
			if !strings.Contains(all, alert) {
				t.Errorf("%s lacks %s", path, alert)
			}
		}
	}
}

func TestContradictions(t *testing.T) {
	for set, want := range map[string]string{
		"single.yaml replicas=2":                     "replicas is 2, so store.url (or store.existingSecret) and bucket are needed",
		"ha.yaml persistence.enabled=true":           "replicas is 2, so persistence.enabled must be false",
		"single.yaml store.existingSecret=s":         "store needs bucket",
		"ha.yaml secretFile.existingSecret=":         "bucket needs secretFile.existingSecret",
		"ha.yaml store.existingSecret=s":             "store.url and store.existingSecret both name the store",
		"ha.yaml store.url=redis://:word@redis:6379": "store.url has a password",
		"ha.yaml secrets.text.KEY=word":              "secrets.text and secrets.existing both give variables",
		"single.yaml secrets.existing={s}":           "secrets.existing must name variables",
		"single.yaml config=[store]":                 "config has the table [store]",
		"ha.yaml ingress.host=":                      "ingress.enabled needs ingress.host",
		"ha.yaml console.existingSecret=":            "serviceMonitor.enabled needs console.existingSecret",
		"single.yaml shutdownGrace=2m":               "shutdownGrace must be a number of seconds",
		"single.yaml image=":                         "image is missing",
	} {
		name, set, _ := strings.Cut(set, " ")
		if _, err := render(t, folder, example(t, name, set)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %s: %v, want %q", name, set, err, want)
		}
	}
}
