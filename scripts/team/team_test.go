// Package team_test holds what a team installs to what epitome is: the parts that are to be started together, as they
// stand beside it, and the chart as Kubernetes would read it.
package team_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/need"
)

type table = map[string]any

// parsed is a document of YAML.
func parsed(t *testing.T, text []byte) (all table) {
	t.Helper()
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return all
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// at is what stands under the keys, and the test's end if nothing does.
func at(t *testing.T, in any, keys ...any) any {
	t.Helper()
	for i, k := range keys {
		switch v := in.(type) {
		case table:
			name, _ := k.(string)
			in = v[name]
		case []any:
			n, _ := k.(int)
			if n >= len(v) {
				t.Fatalf("there are only %d of %v", len(v), keys[:i])
			}
			in = v[n]
		}
		if in == nil {
			t.Fatalf("there is no %v", keys[:i+1])
		}
	}
	return in
}

// loads is the configuration as the program takes it, where the environment has what it names.
func loads(t *testing.T, text string) config.Config {
	t.Helper()
	t.Setenv("REDIS_PASSWORD", "secret")
	folder := t.TempDir()
	file, secret := filepath.Join(folder, "config.toml"), filepath.Join(folder, "secret")
	text = regexp.MustCompile(`secret_file = ".*"`).ReplaceAllString(text, fmt.Sprintf("secret_file = %q", secret))
	for name, text := range map[string]string{file: text, secret: strings.Repeat("5e", 32)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := config.Load(configtest.Text(), file, config.Overrides{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return conf
}

func TestComposedPartsFindEachOther(t *testing.T) {
	compose := parsed(t, contents(t, "compose.yaml"))
	services, _ := at(t, compose, "services").(table)
	conf := loads(t, string(contents(t, "epitome.toml")))
	for _, name := range []string{"epitome-1", "epitome-2"} {
		volumes := fmt.Sprint(at(t, services, name, "volumes"))
		if !strings.Contains(volumes, "./epitome.toml:/etc/epitome/config.toml:ro") {
			t.Errorf("%s has another configuration: %s", name, volumes)
		}
	}
	for _, address := range []string{conf.Store.URL, conf.Offload.Bucket} {
		host := regexp.MustCompile(`(?:@|endpoint=http://)([a-z0-9]+):(\d+)`).FindStringSubmatch(address)
		if host == nil || services[host[1]] == nil {
			t.Errorf("%s leads to no service", address)
		}
	}
	if s := fmt.Sprint(at(t, services, "s3", "entrypoint")); !strings.Contains(s, ":7071") || !strings.Contains(s, "/data/epitome") {
		t.Errorf("S3 does not stand where the configuration looks for it: %s", s)
	}
	balancer := string(contents(t, "nginx.conf"))
	for _, m := range regexp.MustCompile(`server ([a-z0-9-]+):7070[^;]*;`).FindAllStringSubmatch(balancer, -1) {
		if services[m[1]] == nil {
			t.Errorf("the balancer leads to %s, which is none of the services", m[1])
		}
	}
	if strings.Contains(balancer, "hash") || strings.Contains(balancer, "sticky") {
		t.Error("the balancer sticks")
	}
	if _, port, _ := net.SplitHostPort(conf.Listen); port != "7070" {
		t.Errorf("epitome listens on port %s", port)
	}
	if u := conf.Offload.URL; !slices.ContainsFunc(conf.Console.Hosts, func(host string) bool {
		return u == "http://"+host+":8080/-/artifacts/"
	}) {
		t.Errorf("artifacts are asked for under %s, epitome is known as %v", u, conf.Console.Hosts)
	}
}

// chartOf renders files of the chart with other values.
func chartOf(t *testing.T, change func(values table)) (render func(file string) []byte) {
	t.Helper()
	all := template.New("").Option("missingkey=error")
	all.Funcs(template.FuncMap{
		"include": func(name string, of any) (string, error) {
			var b bytes.Buffer
			err := all.ExecuteTemplate(&b, name, of)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"nindent": func(n int, text string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(text, "\n", pad)
		},
		"contains":  func(part, text string) bool { return strings.Contains(text, part) },
		"quote":     func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"add":       func(a, b int) int { return a + b },
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"default": func(other, v any) any {
			if v == nil || v == "" {
				return other
			}
			return v
		},
	})
	for _, name := range []string{"_names.tpl"} {
		template.Must(all.Parse(string(contents(t, "chart/templates/"+name))))
	}
	values, chart := parsed(t, contents(t, "chart/values.yaml")), parsed(t, contents(t, "chart/Chart.yaml"))
	if change != nil {
		change(values)
	}
	data := table{"Values": values, "Release": table{"Name": "team", "Service": "Helm", "Namespace": "agents"},
		"Chart": table{"AppVersion": chart["appVersion"], "Name": chart["name"]}}
	return func(file string) []byte {
		t.Helper()
		var b bytes.Buffer
		one := template.Must(template.Must(all.Clone()).Parse(string(contents(t, file))))
		if err := one.Execute(&b, data); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
}

// rendered are the documents of the chart, by kind, with other values.
func rendered(t *testing.T, change func(values table)) map[string]table {
	t.Helper()
	render := chartOf(t, change)
	files, err := filepath.Glob("chart/templates/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	found := map[string]table{}
	for _, file := range files {
		text := render(file)
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		doc := parsed(t, text)
		kind, _ := doc["kind"].(string)
		if found[kind] != nil || at(t, doc, "apiVersion") == "" || at(t, doc, "metadata", "name") == "" {
			t.Errorf("%s: a document without a name, or a second %s", file, kind)
		}
		found[kind] = doc
	}
	return found
}

func TestChartRunsEpitomeAsItIs(t *testing.T) {
	docs := rendered(t, nil)
	for _, kind := range []string{"ConfigMap", "Deployment", "Service", "ServiceAccount", "PodDisruptionBudget"} {
		if docs[kind] == nil {
			t.Errorf("there is no %s", kind)
		}
	}
	if docs["HorizontalPodAutoscaler"] != nil || docs["ServiceMonitor"] != nil || docs["NetworkPolicy"] != nil {
		t.Error("what is off by default is there")
	}
	text, _ := at(t, docs["ConfigMap"], "data", "config.toml").(string)
	conf := loads(t, text)
	pod := at(t, docs["Deployment"], "spec", "template", "spec")
	container := at(t, pod, "containers", 0)
	for probe, path := range map[string]string{"readinessProbe": "/-/ready", "livenessProbe": "/-/health"} {
		if got := at(t, container, probe, "httpGet", "path"); got != path {
			t.Errorf("%s asks for %v, want %s", probe, got, path)
		}
	}
	_, port, _ := net.SplitHostPort(conf.Listen)
	if got := fmt.Sprint(at(t, container, "ports", 0, "containerPort")); got != port {
		t.Errorf("epitome listens on %s, the pod has %s", port, got)
	}
	if args := fmt.Sprint(at(t, container, "args")); !strings.Contains(args, ":"+port) {
		t.Errorf("with a configuration that leaves listen out it is started as %s", args)
	}
	grace, _ := at(t, pod, "terminationGracePeriodSeconds").(int)
	wait, _ := at(t, container, "lifecycle", "preStop", "sleep", "seconds").(int)
	if float64(grace-wait) <= conf.Proxy.ShutdownGrace.D().Seconds() {
		t.Errorf("a pod has %d s after its %d, epitome wants %v", grace, wait, conf.Proxy.ShutdownGrace.D())
	}
	for _, kind := range []string{"Service", "PodDisruptionBudget"} {
		labels, _ := at(t, docs["Deployment"], "spec", "template", "metadata", "labels").(table)
		selector, _ := at(t, docs[kind], "spec", "selector").(table)
		if inner, ok := selector["matchLabels"].(table); ok {
			selector = inner
		}
		for k, v := range selector {
			if labels[k] != v {
				t.Errorf("%s selects %s=%v, pods have %v", kind, k, v, labels[k])
			}
		}
	}
}

func TestChartTakesSecretsAndTLS(t *testing.T) {
	docs := rendered(t, func(values table) {
		values["existingSecret"] = "passwords"
		values["secretFile"] = table{"existingSecret": "naming"}
		values["tls"] = table{"existingSecret": "certificate"}
		values["autoscaling"] = table{"enabled": true, "minReplicas": 3, "maxReplicas": 9, "targetCPU": 60}
		values["serviceMonitor"] = table{"enabled": true, "interval": "15s", "labels": table{"release": "prometheus"},
			"token":     table{"name": "passwords", "key": "EPITOME_TOKEN"},
			"tlsConfig": table{"serverName": "epitome.example.com"}}
		values["networkPolicy"] = table{"enabled": true, "from": []any{table{"podSelector": table{}}}}
		values["restarted"] = "2026-11-23"
		values["serviceAccount"] = table{"create": true, "name": "", "annotations": table{"role": "writer"}}
		values["nodeSelector"] = table{"disk": "fast"}
		values["podAnnotations"] = table{"team": "agents"}
		values["extraVolumes"] = []any{table{"name": "authority", "configMap": table{"name": "authority"}}}
		values["extraVolumeMounts"] = []any{table{"name": "authority", "mountPath": "/authority"}}
	})
	text, _ := at(t, docs["ConfigMap"], "data", "config.toml").(string)
	for _, want := range []string{"[tls]", `cert_file = "/run/secrets/tls/tls.crt"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the configuration has no %s:\n%s", want, text)
		}
	}
	spec, _ := at(t, docs["Deployment"], "spec").(table)
	if spec["replicas"] != nil {
		t.Error("the Deployment and the autoscaler both say how many replicas there are")
	}
	pod := at(t, spec, "template", "spec")
	if got := at(t, pod, "containers", 0, "envFrom", 0, "secretRef", "name"); got != "passwords" {
		t.Errorf("variables come from %v", got)
	}
	if got := at(t, pod, "containers", 0, "readinessProbe", "httpGet", "scheme"); got != "HTTPS" {
		t.Errorf("the probe speaks %v to an epitome that takes https alone", got)
	}
	mounted := fmt.Sprint(at(t, pod, "containers", 0, "volumeMounts"))
	conf := regexp.MustCompile(`(?m)^\s*secret_file = "(.*)/secret"`).FindStringSubmatch(text)
	if conf == nil || !strings.Contains(mounted, conf[1]) || !strings.Contains(mounted, "/run/secrets/tls") {
		t.Errorf("secrets are looked for in %v, and lie in %s", conf, mounted)
	}
	if got := at(t, docs["ServiceMonitor"], "spec", "endpoints", 0, "tlsConfig"); fmt.Sprint(got) != "map[serverName:epitome.example.com]" {
		t.Errorf("Prometheus trusts the pods by %v", got)
	}
	if got := at(t, spec, "template", "metadata", "annotations", "epitome/restarted"); got != "2026-11-23" {
		t.Errorf("pods are started anew by %v", got)
	}
	if at(t, docs["NetworkPolicy"], "spec", "ingress", 0, "ports", 0, "port") != at(t, pod, "containers", 0, "ports", 0, "name") ||
		at(t, docs["NetworkPolicy"], "spec", "ingress", 0, "from") == nil {
		t.Errorf("who may come: %v", docs["NetworkPolicy"])
	}
	if at(t, docs["HorizontalPodAutoscaler"], "spec", "maxReplicas") != 9 {
		t.Error("the autoscaler has other bounds")
	}
	if got := at(t, docs["ServiceMonitor"], "spec", "endpoints", 0, "authorization", "credentials", "key"); got != "EPITOME_TOKEN" {
		t.Errorf("metrics are asked for with %v", got)
	}
}

// Who installs the chart is told what is missing, and nothing where nothing is.
func TestChartTellsWhatIsMissing(t *testing.T) {
	notes := func(change func(values table)) string {
		return string(chartOf(t, change)("chart/templates/NOTES.txt"))
	}
	text := notes(func(values table) { values["serviceMonitor"] = table{"enabled": true, "token": nil} })
	for _, want := range []string{"WITHOUT existingSecret", "WITHOUT secretFile", "WITHOUT serviceMonitor.token", "WITHOUT [clients"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	text = notes(func(values table) {
		values["existingSecret"], values["secretFile"] = "passwords", table{"existingSecret": "naming"}
		values["tls"] = table{"existingSecret": "certificate"}
		values["config"] = fmt.Sprint(values["config"], "\n[clients.alice]\nkeys = []\n")
	})
	if strings.Contains(text, "WITHOUT") || !strings.Contains(text, "https://team-epitome.agents:7070") {
		t.Errorf("nothing is missing, and it says:\n%s", text)
	}
}

// Containers write where a volume is, and each where no other does.
func TestComposedContainersAreConfined(t *testing.T) {
	compose := parsed(t, contents(t, "compose.yaml"))
	seen := map[string]bool{}
	for _, name := range []string{"epitome-1", "epitome-2"} {
		if at(t, compose, "services", name, "read_only") != true || at(t, compose, "services", name, "logging") == nil ||
			fmt.Sprint(at(t, compose, "services", name, "cap_drop")) != "[ALL]" {
			t.Errorf("%s may write anywhere, has rights, or a log without an end", name)
		}
		volume := regexp.MustCompile(`([a-z0-9-]+):/data`).FindStringSubmatch(fmt.Sprint(at(t, compose, "services", name, "volumes")))
		if volume == nil || seen[volume[1]] {
			t.Fatalf("%s keeps nothing, or where another one does", name)
		}
		if all, _ := at(t, compose, "volumes").(table); !hasKey(all, volume[1]) {
			t.Errorf("%s: there is no volume %s", name, volume[1])
		}
		seen[volume[1]] = true
	}
}

func hasKey(in table, key string) bool {
	_, found := in[key]
	return found
}

// The parts of the compose file as processes, and a demo through the balancer that must find all it looks for.
func TestDemoRunsThroughTheBalancer(t *testing.T) {
	for _, needed := range []string{"bash", "nginx"} {
		if _, err := exec.LookPath(needed); err != nil {
			need.Skip(t, "there is no %s", needed)
		}
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		if _, err := exec.LookPath("valkey-server"); err != nil {
			need.Skip(t, "there is no valkey-server and no redis-server")
		}
	}
	cmd := exec.CommandContext(t.Context(), "../team-up", "demo", "--turns", "60", "--check")
	cmd.Env = append(os.Environ(), "WINDOW=32k", "TIMEOUT=5s", fmt.Sprintf("PORT=%d", sixFreePorts(t)))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "Sent again, the last request came in the same") {
		t.Errorf("the last request, sent again through another epitome, is not told:\n%s", out)
	}
}

// sixFreePorts is the first of six ports on which nothing listens. None of them is lent to whoever asks for any port,
// and the search begins anywhere, as the same test may run beside this one.
func sixFreePorts(t *testing.T) int {
	t.Helper()
	const from, ports = 20_000, 10_000
	begin := rand.IntN(ports / 6)
	for k := range ports / 6 {
		port, free := from+(begin+k)%(ports/6)*6, true
		for n := range 6 {
			ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+n))
			if free = free && err == nil; err == nil {
				_ = ln.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("no six ports are free")
	return 0
}
