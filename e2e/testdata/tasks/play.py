"""Plays a session of an agent in a copy of a task's module, and keeps it as one body of Chat Completions.

A task's session.py says what the user and the agent say and which calls the agent makes. Results are not written by
hand: each command runs, with a random generator of a fixed seed behind the sample data. Only times, and the order of
what runs side by side, differ from play to play. Where the session ends the module has to be what the task's folder
"module" holds.
"""
import gzip, json, os, random, shutil, subprocess, tempfile
from pathlib import Path

HOME = "/home/dev"  # what the folder of a play is called in a session

# A machine is a folder; one that is gone cannot be reached any more.
SSH = """#!/bin/sh
host=$1; shift
if [ ! -d "$MACHINES/$host" ]; then
    echo "ssh: connect to host $host port 22: No route to host" >&2
    exit 255
fi
cd "$MACHINES/$host" && PATH="$MACHINES/$host/bin:$PATH" exec sh -c "$*"
"""


def tool(name, about, **parameters):
    properties = {key: {"type": "integer" if key in ("first", "last") else "string", "description": text}
                  for key, text in parameters.items()}
    required = [key for key in parameters if key not in ("first", "last")]
    return {"type": "function", "function": {"name": name, "description": about, "parameters": {
        "type": "object", "properties": properties, "required": required}}}


TOOLS = [
    tool("bash", "Runs a command in the project's folder and returns what it prints.", command="The command."),
    tool("read_file", "Returns lines of a file with their numbers.", path="The file.", first="The first line.",
         last="The last line."),
    tool("edit_file", "Replaces a text that stands once in a file.", path="The file.", old_text="The text.",
         new_text="The text in its place."),
    tool("write_file", "Writes a file.", path="The file.", content="All of its text."),
]


def sh(command):
    return "bash", {"command": command}


def read(path, *lines):
    return "read_file", {"path": path, **dict(zip(("first", "last"), lines))}


def edit(path, old, new):
    return "edit_file", {"path": path, "old_text": old, "new_text": new}


def write(path, content):
    return "write_file", {"path": path, "content": content}


class Session:
    def __init__(self, task, system):
        self.folder = Path(__file__).parent / task
        self.root = Path(tempfile.mkdtemp(prefix="task-"))
        self.dir = self.root / task
        self.machines = self.root / ".machines"
        self.random = random.Random(task)
        self.messages = [{"role": "system", "content": system}]
        shutil.copytree(self.folder / "module", self.dir)
        patch = self.folder / "progress.patch"
        if patch.exists():  # what the agent does in the session and leaves
            subprocess.run(["git", "apply", "-R", patch], cwd=self.dir, check=True)
        self.file(".bin/ssh", SSH, 0o755)
        self.file(".gitconfig", "[user]\nname = dev\nemail = dev@example.com\n[init]\ndefaultBranch = main\n")

    def file(self, path, content, mode=0o644):
        """Writes a file of the machine, or as .machines/NAME/PATH one of another machine."""
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(mode)

    def run(self, command):
        env = {**os.environ, "HOME": str(self.root), "MACHINES": str(self.machines), "GOFLAGS": "", "LC_ALL": "C.UTF-8",
               "PATH": f"{self.root}/.bin:{os.environ['PATH']}", "GOCACHE": str(cache()), "GOTOOLCHAIN": "local",
               "TZ": "UTC",
               "GIT_AUTHOR_DATE": "2026-03-02T09:00:00Z", "GIT_COMMITTER_DATE": "2026-03-02T09:00:00Z"}
        done = subprocess.run(["bash", "-c", command], cwd=self.dir, env=env, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.rstrip("\n")
        if done.returncode:
            text += f"\n(exit {done.returncode})"
        return text or "(no output)"

    def call(self, name, given):
        if name == "bash":
            return self.run(given["command"])
        path = self.dir / given["path"]
        if given["path"].startswith(HOME):
            path = self.root / given["path"][len(HOME) + 1:]
        if name == "read_file":
            lines = path.read_text().splitlines()
            first = given.get("first", 1)
            return "\n".join(f"{first + n:6}\t{line}" for n, line in
                             enumerate(lines[first - 1:given.get("last", len(lines))]))
        if name == "write_file":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(given["content"])
            return f"Wrote {given['path']}: {len(given['content'].splitlines())} lines."
        text = path.read_text()
        if text.count(given["old_text"]) != 1:
            raise SystemExit(f"{path}: stands {text.count(given['old_text'])} times:\n{given['old_text']}")
        path.write_text(text.replace(given["old_text"], given["new_text"]))
        return f"Edited {given['path']}."

    def user(self, text):
        self.messages.append({"role": "user", "content": text.strip()})

    def agent(self, text, *calls):
        """Has the agent say something and make calls; without calls, the turn ends."""
        message = {"role": "assistant", "content": text.strip()}
        self.messages.append(message)
        if not calls:
            return
        message["tool_calls"] = [
            {"id": f"call_{self.random.getrandbits(64):016x}", "type": "function",
             "function": {"name": name, "arguments": json.dumps(given, ensure_ascii=False)}} for name, given in calls]
        for (name, given), made in zip(calls, message["tool_calls"]):
            result = self.call(name, given).replace(str(self.root), HOME)
            self.messages.append({"role": "tool", "tool_call_id": made["id"], "content": result})
            if os.environ.get("SHOW"):
                print(f"$ {json.dumps(given)[:300]}\n{result[:int(os.environ['SHOW'])]}\n")

    def failed(self, name):
        """Keeps what the agent has now as a patch of the module where the session ends."""
        self.differs(self.folder / f"{name}.patch")

    def differs(self, into):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.folder / "module", f"{folder}/a")
            shutil.copytree(self.dir, f"{folder}/b", ignore=shutil.ignore_patterns(".git"))
            done = subprocess.run(["git", "diff", "--no-index", "--no-prefix", "a", "b"], cwd=folder,
                                  stdout=subprocess.PIPE, text=True)
        if into:
            into.write_text(done.stdout)
        return done.stdout

    def end(self):
        """Writes the session."""
        left = self.differs(None)
        if left:
            raise SystemExit(f"where the session ends the module differs from the folder's:\n{left}")
        body = {"model": "gpt-4.1", "max_tokens": 4000, "messages": self.messages, "tools": TOOLS}
        path = self.folder / "requests" / "whole.json.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(body, ensure_ascii=False, indent=1).encode(), mtime=0))
        shutil.rmtree(self.root)
        text = json.dumps(body, ensure_ascii=False)
        print(f"{self.folder.name}: {len(self.messages)} messages, {len(text):,} characters")


def cache():
    return subprocess.run(["go", "env", "GOCACHE"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
