// Package check tests what deploy has for Kubernetes, in a module of its own that the program does not need.
package check

import (
	"encoding/json"
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
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

// What TestMain makes: the program, the chart's archive of a release, a folder with what is in it, and one with the
// files that the examples mount below /etc/epitome.
var program, packed, unpacked, mounted string

func TestMain(m *testing.M) {
	work, err := os.MkdirTemp("", "chart")
	if err != nil {
		log.Fatal(err)
	}
	program = filepath.Join(work, "epitome")
	packed, unpacked = filepath.Join(work, "build/epitome-chart.tgz"), filepath.Join(work, "build/chart/epitome")
	mounted = filepath.Join(work, "mounted")
	making := exec.Command("sh", "-ec", `
		go build -C ../.. -o "$0" .
		ln -s "$PWD/../../README.md" "$PWD/../../deploy" "$PWD/../../release" "$1"
		cd "$1"
		sh release/files.sh owner/name v1.2.3
		mkdir -p mounted/secret mounted/ca mounted/tls mounted/client
		printf '5e%.0s' $(seq 32) >mounted/secret/secret
		go run "$(go env GOROOT)/src/crypto/tls/generate_cert.go" --host localhost
		cp cert.pem mounted/ca/ca.crt
		for name in tls client; do
			cp cert.pem mounted/$name/tls.crt
			cp key.pem mounted/$name/tls.key
		done`, program, work)
	if out, err := making.CombinedOutput(); err != nil {
		log.Fatalf("%v: %s", err, out)
	}
	status := m.Run()
	_ = os.RemoveAll(work)
	os.Exit(status)
}

// example returns the values of an example with some set to others, as helm's --set-json does.
func example(t *testing.T, name, set string) chartutil.Values {
	t.Helper()
	values, err := chartutil.ReadValuesFile("../helm/values-examples/" + name)
	if err == nil {
		err = strvals.ParseJSON(set, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// render returns the objects of the chart in a folder or an archive.
func render(path string, values chartutil.Values) (objects []string, err error) {
	release := chartutil.ReleaseOptions{Name: "epitome", Namespace: "agents", IsInstall: true}
	chart, err := loader.Load(path)
	if err == nil {
		values, err = chartutil.ToRenderValues(chart, values, release, nil)
	}
	if err != nil {
		return nil, err
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
	for name, want := range map[string]int{"single.yaml": 4, "ha.yaml": 7, "private-ca.yaml": 6, "autoscaled.yaml": 6} {
		for _, m := range lint.All(unpacked, example(t, name, ""), "agents", true).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %s", name, m)
			}
		}
		objects, err := render(packed, example(t, name, ""))
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
				text := strings.ReplaceAll(config.Data["config.toml"], "/etc/epitome", mounted)
				check := exec.Command(program, "check", "--config", "/dev/stdin")
				check.Stdin = strings.NewReader(text)
				check.Env = []string{"HOME=" + t.TempDir(), "OPENAI_API_KEY=k", "REDIS_PASSWORD=p",
					"EPITOME_STORE_URL=redis://redis.example.com", "EPITOME_CONSOLE_TOKEN=0123456789abcdef",
					"AWS_ACCESS_KEY_ID=i", "AWS_SECRET_ACCESS_KEY=s"}
				if out, err := check.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s of\n%s", name, err, out, text)
				}
			}
		}
	}
}

// Each key of config.toml can be set, as the program's own schema has it.
func TestConfigHasTheProgramsKeys(t *testing.T) {
	out, err := exec.Command(program, "check", "--schema").Output()
	text, readErr := os.ReadFile(folder + "/values.schema.json")
	var want map[string]any
	var values struct{ Properties map[string]any }
	err = errors.Join(err, readErr, json.Unmarshal(out, &want), json.Unmarshal(text, &values))
	if err != nil {
		t.Fatal(err)
	}
	delete(want, "$schema")
	delete(want, "title")
	undescribe(want)
	if !reflect.DeepEqual(values.Properties["config"], any(want)) {
		text, _ := json.Marshal(want)
		t.Errorf("config in values.schema.json should be %s", text)
	}
}

// undescribe takes the descriptions out of a schema.
func undescribe(schema map[string]any) {
	if _, ok := schema["description"].(string); ok {
		delete(schema, "description")
	}
	for _, v := range schema {
		if inner, ok := v.(map[string]any); ok {
			undescribe(inner)
		}
	}
}

// A pod has the variables that are named, and not all keys of the Secret that they are in.
func TestVariables(t *testing.T) {
	objects, err := render(packed, example(t, "ha.yaml", ""))
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

// The chart of a release has all alerts with their numbers, or those of the values.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("../../docs/grafana/alerts.yml")
	rules := string(text)
	if err != nil || strings.Count(rules, "- alert:") == 0 {
		t.Fatalf("no alerts; %v", err)
	}
	for set, want := range map[string]string{
		"prometheusRule.enabled=true": rules,
		`prometheusRule={"enabled":true,"thresholds":{"EpitomeShapingIsSlow":4}}`: strings.Replace(rules,
			"> 2.5\n", "> 4\n", 1),
	} {
		objects, err := render(packed, example(t, "single.yaml", set))
		all := strings.ReplaceAll(strings.Join(objects, ""), "\n  ", "\n")
		if err != nil || !strings.Contains(all, want) {
			t.Errorf("%s: %v; the alerts differ from\n%s", set, err, want)
		}
	}
}

func TestContradictions(t *testing.T) {
	for set, want := range map[string]string{
		"single.yaml replicas=2":                                "replicas is 2, so store.url (or",
		"single.yaml replicas=null":                             "replicas is null, so store.url",
		"single.yaml replicaCount=2":                            "additional properties 'replicaCount' not allowed",
		"single.yaml image=\"\"":                                "image is missing",
		`single.yaml config="a = 1"`:                            "at '/config': got string, want object",
		`single.yaml maxInFlight="lots"`:                        "at '/maxInFlight': 'lots' does not match pattern",
		`single.yaml maxInFlight="32MB"`:                        "maxInFlight is 32MB, and must be at least",
		`single.yaml shutdownGrace="2m"`:                        "at '/shutdownGrace': got string, want integer",
		`single.yaml secrets.existing=["s"]`:                    "at '/secrets/existing': got array, want object",
		`single.yaml config.rewrite.clear=1`:                    "additional properties 'clear' not allowed",
		`single.yaml config.listen="127.0.0.1:1"`:               "config.listen is the chart's to write: set",
		`single.yaml config.proxy.max_in_flight="1GB"`:          "config.proxy.max_in_flight is the chart's to write",
		`single.yaml config.upstreams.a.headers={"b":"c"}`:      "config.upstreams.a adds a credential",
		`single.yaml store.existingSecret="s"`:                  "store needs bucket",
		`single.yaml ca={"configMap":"a","existingSecret":"b"}`: "ca.configMap and ca.existingSecret both",
		"ha.yaml persistence.enabled=true":                      "replicas is 2, so persistence.enabled",
		`ha.yaml config.offload.folder="/mnt"`:                  "bucket and config.offload.folder both keep artifacts",
		`ha.yaml secretFile.existingSecret=""`:                  "bucket needs secretFile.existingSecret",
		`ha.yaml store.existingSecret="s"`:                      "store.url and store.existingSecret both name",
		`ha.yaml store.url="redis://:word@redis:6379"`:          "store.url has a password",
		`ha.yaml secrets.text.KEY="word"`:                       "secrets.text and secrets.existing both give",
		`ha.yaml ingress.host=""`:                               "ingress.enabled needs ingress.host",
		`ha.yaml console.existingSecret=""`:                     "serviceMonitor.enabled needs console.existingSecret",
	} {
		name, set, _ := strings.Cut(set, " ")
		if _, err := render(packed, example(t, name, set)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %s: %v, want %q", name, set, err, want)
		}
	}
}
