package errand

import (
	"slices"
	"strings"
)

// targets are what programs work on that is set for all calls of theirs from then on, wherever they run: clusters,
// projects, workspaces.
type targets map[string]string

// longestTarget is how many bytes of one are kept.
const longestTarget = 200

// setters are commands that set it, with the program that they are of.
var setters = []struct {
	call []string
	of   string
}{
	{[]string{"kubectl", "config", "use-context"}, "kubectl"},
	{[]string{"kubectl", "config", "set-context"}, "kubectl"}, {[]string{"kubectx"}, "kubectl"},
	{[]string{"kubens"}, "kubectl"}, {[]string{"oc", "project"}, "kubectl"}, {[]string{"oc", "login"}, "kubectl"},
	{[]string{"aws", "eks", "update-kubeconfig"}, "kubectl"},
	{[]string{"gcloud", "container", "clusters", "get-credentials"}, "kubectl"},
	{[]string{"az", "aks", "get-credentials"}, "kubectl"},
	{[]string{"terraform", "workspace", "select"}, "terraform"},
	{[]string{"terraform", "workspace", "new"}, "terraform"}, {[]string{"tofu", "workspace", "select"}, "tofu"},
	{[]string{"tofu", "workspace", "new"}, "tofu"}, {[]string{"pulumi", "stack", "select"}, "pulumi"},
	{[]string{"docker", "context", "use"}, "docker"}, {[]string{"gcloud", "config", "set"}, "gcloud"},
	{[]string{"gcloud", "config", "configurations", "activate"}, "gcloud"},
	{[]string{"az", "account", "set"}, "az"}, {[]string{"firebase", "use"}, "firebase"},
	{[]string{"supabase", "link"}, "supabase"}, {[]string{"vercel", "link"}, "vercel"},
	{[]string{"gh", "auth", "switch"}, "gh"}, {[]string{"gh", "repo", "set-default"}, "gh"},
}

// targeted are programs that work on what is set for another one.
var targeted = map[string]string{"helm": "kubectl", "oc": "kubectl", "flux": "kubectl", "istioctl": "kubectl",
	"docker-compose": "docker", "bq": "gcloud", "gsutil": "gcloud"}

// change notes what a call sets, if it sets something.
func (t *targets) change(words []string) {
	for _, s := range setters {
		if n := len(s.call); len(words) > n && slices.Equal(words[:n], s.call) {
			if *t == nil {
				*t = targets{}
			}
			what := strings.Join(words[1:], " ")
			(*t)[s.of] = what[:min(len(what), longestTarget)]
		}
	}
}

// of is what a call of these words works on, as far as that was set.
func (t targets) of(words []string) string {
	if len(words) == 0 {
		return ""
	}
	program := words[0]
	if other := targeted[program]; other != "" {
		program = other
	}
	return t[program]
}
