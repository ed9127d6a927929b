#!/usr/bin/env python3
"""What a request costs a fleet: three epitomes over one Redis and one folder of artifacts.

    bench/fleet.py EPITOME [EPITOME ...]

Agents have conversations of 40 turns to 60,000 tokens, where a window holds 32,000; each turn comes to the next
replica. Prints for each program the time of shaping, CPU time, the memory of a replica, and what a request leaves in
Redis, in the folder, in the log and in the events. Needs redis-server; takes two minutes a program.
"""
import http.client, http.server, json, os, random, secrets, socket, statistics, subprocess, sys, tempfile, threading
import time
from pathlib import Path

AGENTS, TURNS, REPLICAS = 30, 40, 3
WORDS = "lamp stone river cloud seven paper value count".split()


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        sent = len(self.rfile.read(int(self.headers["content-length"]))) // 3  # about its tokens
        message = {"role": "assistant", "content": "ok"}
        answer = json.dumps({
            "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": sent, "completion_tokens": 1, "total_tokens": sent + 1}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def bodies(agent):
    """The requests of an agent."""
    dice = random.Random(agent)
    system, user = f"You are agent {agent}.", "Fix the project."
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    for turn in range(TURNS):
        yield json.dumps({"model": "m", "messages": messages})
        function = {"name": "Bash", "arguments": json.dumps({"command": f"make {turn}"})}
        call = {"id": f"c{turn}", "type": "function", "function": function}
        lines = [" ".join(f"{dice.choice(WORDS)}{dice.randrange(1000)}" for _ in range(9)) for _ in range(70)]
        messages.append({"role": "assistant", "content": f"step {turn}", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "\n".join(lines)})


def play(agent, ports, refused):
    time.sleep(agent / 20)
    for turn, body in enumerate(bodies(agent)):
        began = time.time()
        c = http.client.HTTPConnection("127.0.0.1", ports[(agent + turn) % REPLICAS], timeout=60)
        c.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        if c.getresponse().status != 200:
            refused.append(agent)
        c.close()
        time.sleep(max(0, 1 - (time.time() - began)))


def cpu_seconds(pids):
    fields = (Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split() for p in pids)
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def peak_megabytes(pid):
    return next(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith("VmHWM")) // 1024


def files_in(folder):
    return [f.stat().st_size for f in Path(folder).rglob("*") if f.is_file()]


def measure(program, provider, folder):
    redis_port, ports, started = free_port(), [free_port() for _ in range(REPLICAS)], []
    redis = ["redis-server", "--port", str(redis_port), "--save", "", "--dir", folder]
    (Path(folder) / "shelf").mkdir()
    (Path(folder) / "secret").write_text(secrets.token_hex(32))
    (Path(folder) / "c.toml").write_text(
        f'upstream = "http://127.0.0.1:{provider}/v1"\nstore.url = "redis://127.0.0.1:{redis_port}/0"\n'
        f'offload = {{folder = "{folder}/shelf", secret_file = "{folder}/secret"}}\n'
        'window = {default = 32_768, probe = false}\nsummarize.mode = "intent"\n')
    try:
        started.append(subprocess.Popen(redis, stdout=subprocess.DEVNULL))
        time.sleep(1)
        for n, port in enumerate(ports):
            log = open(f"{folder}/log{n}", "w")
            command = [program, "serve", "--config", f"{folder}/c.toml", "--listen", f"127.0.0.1:{port}", "--data"]
            started.append(subprocess.Popen([*command, f"{folder}/data{n}"], stdout=log, stderr=log))
        time.sleep(3)
        pids = [p.pid for p in started[1:]]
        refused, before = [], cpu_seconds(pids)
        agents = [threading.Thread(target=play, args=(n, ports, refused)) for n in range(AGENTS)]
        for a in agents:
            a.start()
        for a in agents:
            a.join()
        time.sleep(2)
        cpu, memory = cpu_seconds(pids) - before, max(map(peak_megabytes, pids))
        ask = ["redis-cli", "-p", str(redis_port), "info", "memory"]
        info = subprocess.run(ask, capture_output=True, text=True).stdout
    finally:
        for p in reversed(started):
            p.terminate()
            p.wait()
    kept = int(next(l.split(":")[1] for l in info.splitlines() if l.startswith("used_memory_dataset:")))
    logs = [f"{folder}/log{n}" for n in range(REPLICAS)]
    events = [json.loads(line) for log in logs for line in open(log)]
    shaping = sorted(e["shape_ms"] for e in events if e.get("msg") == "exchange")
    n, artifacts = len(shaping), files_in(f"{folder}/shelf")
    kept_events = sum(sum(files_in(f"{folder}/data{i}/events")) for i in range(REPLICAS))
    print(f"{program}: {n} requests, {len(refused)} refused; shaping {statistics.median(shaping):.1f} ms, "
          f"of 99 % at most {shaping[n * 99 // 100]:.0f}; CPU {cpu * 1000 / n:.1f} ms; {memory} MB a replica\n"
          f"  a request leaves {kept / n:.0f} bytes in Redis, {len(artifacts) / n:.2f} artifacts of "
          f"{sum(artifacts) / len(artifacts):.0f} bytes, {sum(map(os.path.getsize, logs)) / n:.0f} bytes in the log, "
          f"{kept_events / n:.0f} in events", flush=True)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for program in sys.argv[1:] or sys.exit(__doc__):
        with tempfile.TemporaryDirectory() as folder:
            measure(os.path.abspath(program), server.server_port, folder)


if __name__ == "__main__":
    main()
