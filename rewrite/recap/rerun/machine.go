package rerun

import (
	"path"
	"slices"
	"strings"
)

// elsewhere reports whether a program has something run on another machine, in a container or in a system of its own,
// or shows what ran there; and how many words behind it that are no options tell which one it is: 0 if all words do.
func elsewhere(program string) (naming int, is bool) {
	switch program {
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "lxc", "incus", "limactl",
		"multipass":
		return 2, true
	case "ssh", "chroot":
		return 1, true
	case "heroku", "fly", "flyctl", "railway", "gcloud", "aws", "az", "vagrant", "wsl", "wsl.exe", "systemd-nspawn", "act",
		"devcontainer", "toolbox", "distrobox", "adb", "cross", "earthly", "dagger", "okteto", "skaffold", "ansible", "gh",
		"glab", "curl", "wget", "journalctl", "helm", "nomad", "minikube":
		return 0, true
	}
	return 0, false
}

// handing are the verbs of those programs behind which a command of another one follows.
var handing = []string{"run", "exec", "shell", "ssh"}

// callers are programs that call the one behind them.
var callers = []string{"sudo", "env", "nohup", "exec", "command", "xvfb-run", "unbuffer", "doas"}

// takesNext are options of programs of elsewhere that have their value in the next word.
var takesNext = []string{"-e", "--env", "--env-file", "-v", "--volume", "-w", "--workdir", "-u", "--user", "--name",
	"--entrypoint", "-p", "--publish", "--network", "--mount", "--platform", "-f", "--file", "--profile", "--project-name",
	"-n", "--namespace", "-c", "--container", "--context", "--index", "-o", "-i", "-l", "--project-directory", "--add-host",
	"--label", "--memory", "-m", "--cpus", "--gpus", "--shm-size", "--ulimit", "--kubeconfig"}

// unseen are options of those that change nothing of what runs.
var unseen = []string{"--rm", "-it", "-ti", "-T", "-t", "--tty", "--interactive", "--no-deps", "-q", "--quiet-pull"}

// Machine tells where the words of a call have it run, and what runs there. where is empty on this machine. What runs
// elsewhere is the call of another program; nil if that is not known.
func Machine(words []string) (where string, inner []string) {
	set, own := Assignments(words)
	own = withoutCallers(own)
	switch {
	case callsElsewhere(own), len(own) > 0 && isElsewhere(own[0]) && len(own) > mostWords:
		return strings.Join(words, "\x00"), nil
	case len(own) == 0 || !isElsewhere(own[0]):
		return "", words
	}
	key, inner := partElsewhere(own)
	if inner == nil {
		return strings.Join(words, "\x00"), nil
	}
	return strings.Join(append(slices.Clone(set), key...), "\x00"), inner
}

// partElsewhere parts what tells the machine from what runs on it; inner is nil if that is not known.
func partElsewhere(words []string) (key, inner []string) {
	n, _ := elsewhere(words[0])
	if len(words) > 1 && words[1] == "compose" {
		n++
	}
	hands := n == 1
	key = words[:1:1]
	for k := 1; k < len(words) && n > 0; k++ {
		w := words[k]
		switch {
		case slices.Contains(unseen, w) || w == "-i" && words[0] != "ssh":
			continue
		case slices.Contains(takesNext, w) && k+1 < len(words):
			key, k = append(key, w), k+1
			w = words[k]
		case !strings.HasPrefix(w, "-"):
			n, hands = n-1, hands || slices.Contains(handing, w)
		}
		if key = append(key, w); n == 0 {
			inner = words[k+1:]
		}
	}
	if len(inner) > 0 && inner[0] == "--" {
		inner = inner[1:]
	}
	if !hands || len(inner) == 0 {
		return nil, nil
	}
	return key, inner
}

// withoutCallers leaves out programs that call the one behind them on the same machine.
func withoutCallers(words []string) []string {
	for len(words) > 1 && slices.Contains(callers, words[0]) {
		words = words[1:]
		for len(words) > 1 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	return words
}

// StartsOnly reports whether a call that has something run elsewhere, or tells others of the work, shows nothing of
// what runs there.
func StartsOnly(words []string) bool {
	_, own := Assignments(words)
	if own = withoutCallers(own); len(own) < 2 || len(own) > mostWords {
		return false
	}
	has := func(options ...string) bool {
		return slices.ContainsFunc(own, func(w string) bool { return slices.Contains(options, w) })
	}
	switch path.Base(own[0]) {
	case "gh", "glab":
		return len(own) > 2 && slices.Contains([]string{"pr", "mr", "issue", "release"}, own[1]) &&
			slices.Contains([]string{"create", "edit", "comment", "merge", "ready", "close"}, own[2])
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		switch verbOf(own[1:]) {
		case "up", "run":
			return has("-d", "--detach")
		case "start":
			return !has("-a", "-i", "--attach", "--interactive", "-ai")
		case "stop", "restart", "down", "pull", "rm", "kill", "ps", "network", "volume":
			return true
		}
	}
	return false
}

// verbOf is what a program of containers is to do.
func verbOf(words []string) string {
	for k := 0; k < len(words); k++ {
		switch w := words[k]; {
		case slices.Contains(takesNext, w):
			k++
		case w != "compose" && w != "container" && !strings.HasPrefix(w, "-"):
			return w
		}
	}
	return ""
}

// ShellLine is the command line that a shell is given; empty if none is.
func ShellLine(words []string) string {
	_, own := Assignments(words)
	if own = withoutCallers(own); len(own) > 2 && strings.HasSuffix(own[1], "c") &&
		slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(own[0])) {
		return own[2]
	}
	return ""
}

// callsElsewhere reports whether a shell is given a command line with a program that has something run elsewhere.
func callsElsewhere(words []string) bool {
	return len(words) > 2 && slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(words[0])) &&
		strings.HasSuffix(words[1], "c") && slices.ContainsFunc(strings.Fields(words[2]), isElsewhere)
}

// isElsewhere reports whether a program has something run elsewhere, or shows what did.
func isElsewhere(program string) bool {
	_, is := elsewhere(path.Base(program))
	return is
}
