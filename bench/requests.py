#!/usr/bin/env python3
"""Prints what requests of a program cost in counts: allocations, and allocated kilobytes. Sixteen are shaped at once.

    bench/requests.py EPITOME
"""
import http.client, http.server, json, os, random, re, subprocess, sys, tempfile, threading, time
import fleet

CONNECTIONS, ROUNDS = 16, 12
CONFIG = 'proxy.max_recent = "128MB"\nwindow = {probe = false, default = 4_000_000}\nrewrite.offload_tokens = 300\n'


def conversation(task, size, tool, result):
    """Returns messages of about so many bytes: calls of a tool whose results have some bytes each."""
    dice, messages = random.Random(size), [{"role": "user", "content": f"This is task {task}."}]
    for n in range(max(size // (result + 250), 1)):
        text = " ".join(f"{dice.choice(fleet.WORDS)}{dice.randrange(1000)}" for _ in range(result // 8))
        call = {"id": f"c{n}", "type": "function", "function": {"name": tool, "arguments": f'{{"path":"{n}"}}'}}
        messages += [{"role": "assistant", "content": "I look.", "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": call["id"], "content": text}]
    return messages


def kinds(size):
    """Yields a kind of request, and a function that returns the messages of a connection in a round."""
    turn = [{"role": "assistant", "content": "I go on."}, {"role": "user", "content": "Go on."}]
    small, large = (conversation("0", size, *how) for how in (("read", 700), ("bash", min(size - 400, 10_000))))
    of = lambda task: [{"role": "user", "content": f"This is task {task}."}] + small[1:]
    yield "passing", lambda c, n: of(f"{c} of {n}")
    yield "growing", lambda c, n: of(c) + n * turn
    yield "repeated", lambda c, n: small
    yield "rewritten", lambda c, n: large


def send(port, bodies):
    """Sends requests at once: all but the last byte of each, and then these bytes."""
    clients = [http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in bodies]
    for client, body in zip(clients, bodies):
        client.request("POST", "/v1/chat/completions", body[:-1], {"content-length": str(len(body))})
    for client, body in zip(clients, bodies):
        client.sock.sendall(body[-1:])
    for client in clients:
        assert client.getresponse().status == 200
        client.close()


def allocated(port):
    time.sleep(.05)  # the last events are written
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.request("GET", "/-/metrics")
    text = client.getresponse().read().decode()
    return [float(re.search(rf"\ngo_memstats_{name}_total (\S+)", text)[1]) for name in ("mallocs", "alloc_bytes")]


def main(program, folder):
    provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), fleet.Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    port, report = fleet.free_port(), {}
    with open(f"{folder}/config.toml", "w") as f:
        f.write(f'{CONFIG}listen = "127.0.0.1:{port}"\nupstream = "http://127.0.0.1:{provider.server_port}/v1"\n')
    proxy = subprocess.Popen([program, "serve", "--config", f.name, "--data", f"{folder}/data"], stderr=subprocess.DEVNULL,
                             env=dict(os.environ, GOGC="400"))
    time.sleep(2)
    for size, (kind, messages) in ((size, k) for size in (2, 100, 800) for k in kinds(size * 1000)):
        costs, before = [], allocated(port)
        for n in range(ROUNDS):
            all = [json.dumps({"model": "m", "messages": messages(c, n)}).encode() for c in range(CONNECTIONS)]
            send(port, all)
            after = allocated(port)
            costs.append([(b - a) / CONNECTIONS for a, b in zip(before, after)])
            before = after
        count, bytes = (sorted(column)[1] for column in zip(*costs[1:]))  # what else runs here only adds to them
        report.update({f"{size} KB {kind}: allocations": count, f"{size} KB {kind}: kilobytes": bytes / 1000})
    proxy.kill()
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1], folder)
