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
var setters = []struct{ call, of string }{
	{"kubectl config use-context", "kubectl"}, {"kubectl config set-context", "kubectl"}, {"kubectx", "kubectl"},
	{"kubens", "kubectl"}, {"oc project", "kubectl"}, {"oc login", "kubectl"}, {"aws eks update-kubeconfig", "kubectl"},
	{"gcloud container clusters get-credentials", "kubectl"}, {"az aks get-credentials", "kubectl"},
	{"terraform workspace select", "terraform"}, {"terraform workspace new", "terraform"},
	{"tofu workspace select", "tofu"}, {"tofu workspace new", "tofu"}, {"pulumi stack select", "pulumi"},
	{"docker context use", "docker"}, {"gcloud config set", "gcloud"}, {"gcloud config configurations activate", "gcloud"},
	{"az account set", "az"}, {"firebase use", "firebase"}, {"supabase link", "supabase"}, {"vercel link", "vercel"},
	{"gh auth switch", "gh"}, {"gh repo set-default", "gh"},
}

// targeted are programs that work on what is set for another one.
var targeted = map[string]string{"helm": "kubectl", "oc": "kubectl", "flux": "kubectl", "istioctl": "kubectl",
	"docker-compose": "docker", "bq": "gcloud", "gsutil": "gcloud"}

// change notes what a call sets, if it sets something.
func (t *targets) change(words []string) {
	for _, s := range setters {
		own := strings.Fields(s.call)
		if n := len(own); len(words) > n && slices.Equal(words[:n], own) {
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
