package errand

import (
	"slices"
	"strings"

	"epitome/pattern"
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

// targeted is the program for which it is set what another one works on; empty if that is not known.
func targeted(program string) string {
	switch program {
	case "helm", "oc", "flux", "istioctl":
		return "kubectl"
	case "docker-compose":
		return "docker"
	case "bq", "gsutil":
		return "gcloud"
	}
	return ""
}

// lackForm finds what programs say where nothing is set for them to work on, or git where it has no branch to push to.
var lackForm = pattern.Of(`current-context is not set|no configuration has been provided|` +
	`server localhost:8080 was refused|"?http://localhost:8080/|no stack selected|has no upstream branch|` +
	`required property \[project\] is not currently set|Have you run supabase link|No currently active project|` +
	`No default remote repository has been set`)

// mayLack reports whether a call may say so.
func mayLack(words []string) bool {
	return len(words) > 0 && (words[0] == "git" || targetOf(words) != "")
}

// targetOf is the program for which it is set what a call of these words works on; empty if that is not known.
func targetOf(words []string) string {
	if other := targeted(words[0]); other != "" {
		return other
	}
	for _, s := range setters {
		if s.of == words[0] {
			return s.of
		}
	}
	return ""
}

// withoutTarget is the work that a call finds, without what it is set to work on.
func withoutTarget(work string) string {
	return work[strings.LastIndexByte(work, 0)+1:]
}

// changeIn notes what a command line sets that is not understood.
func (t *targets) changeIn(line string) {
	for _, s := range setters {
		if _, behind, is := strings.Cut(line, strings.Join(s.call, " ")+" "); is {
			t.change(append(slices.Clone(s.call), behind[:min(len(behind), longestTarget)]))
		}
	}
}

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
	return t[targetOf(words)]
}
