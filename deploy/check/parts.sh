#!/usr/bin/env bash
# Starts the parts of ../compose without Docker, as it configures them: two epitomes behind nginx, the S3 server,
# Prometheus, and Redis in the place of Valkey. One replica is killed in the middle of a session; the other must send what
# one epitome alone does. Then Redis is stopped, and Prometheus must notice.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
for part in redis-server:redis-server nginx:nginx-light promtool:prometheus curl:curl; do
  command -v "${part%:*}" >/dev/null || missing+=("${part#*:}")
done
if ((${#missing[@]})); then
  if [[ -n ${NO_INSTALL:-} || $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "SKIPPED deploy's parts: not installed: ${missing[*]}"
    exit
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

promtool check rules ../../docs/grafana/alerts.yml
promtool test rules alerts_test.yml

work=$(mktemp -d)
chmod 711 "$work" # for nginx, which gives up root
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

go build -C ../.. -o "$work/epitome" .
go build -o "$work/versitygw" github.com/versity/versitygw/cmd/versitygw

# start NAME COMMAND...: in the background, with a log of its own.
start() {
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1 &
  pids+=($!)
}

kill_hard() {
  kill -KILL "$1"
  wait "$1" 2>/dev/null || true
}

# until_true SECONDS COMMAND...: waits until the command succeeds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS > end)); then
      echo "FAILED, in vain: $*" >&2
      tail -n 3 "$work"/*.log | cut -c 1-400 >&2
      exit 1
    fi
    sleep 0.2
  done
}

port() {
  local port
  while port=$((20000 + RANDOM % 10000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}
for name in front a b alone to_replicas to_alone answers redis s3 prometheus; do
  declare "$name=$(port)"
done

export REDIS_PASSWORD=word CONSOLE_TOKEN=0123456789abcdef AWS_ACCESS_KEY_ID=epitome AWS_SECRET_ACCESS_KEY=secret
printf '5e%.0s' {1..32} >"$work/secret"
printf '%s' "$CONSOLE_TOKEN" >"$work/token"

# Compose's configuration with the addresses of this machine, a small window, and compactions without a model.
{
  sed "s|valkey:6379|127.0.0.1:$redis|; s|s3:7070|127.0.0.1:$s3|; s|/run/secrets/epitome_secret|$work/secret|" \
    ../compose/config.toml
  printf '\n[window]\ndefault = "32k"\n\n[summarize]\nmode = "intent"\n'
} >"$work/replica.toml"
grep -v '^url = "redis:' "$work/replica.toml" >"$work/alone.toml"
own="access_log off;"
for kind in client_body proxy fastcgi uwsgi scgi; do own+=" ${kind}_temp_path $work/$kind;"; done
sed "s|^http {|& $own|; s|epitome-1:7070|127.0.0.1:$a|; s|epitome-2:7070|127.0.0.1:$b|; s|listen 7070|listen 127.0.0.1:$front|" \
  ../compose/nginx.conf >"$work/front.conf"
# The provider always answers the same, and writes each body that it gets on a line. It is also asked for its models.
cat >"$work/provider.conf" <<END
events {}
http {
  $own
  log_format body escape=none '\$request_body';
  client_max_body_size 64m;
  client_body_buffer_size 64m;
  server {
    listen 127.0.0.1:$to_replicas;
    location / { access_log $work/by-replicas body if=\$content_length; proxy_pass http://127.0.0.1:$answers; }
  }
  server {
    listen 127.0.0.1:$to_alone;
    location / { access_log $work/by-one body if=\$content_length; proxy_pass http://127.0.0.1:$answers; }
  }
  server {
    listen 127.0.0.1:$answers;
    default_type application/json;
    location / {
      return 200 '{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}';
    }
  }
}
END
sed "s|/run/secrets/console_token|$work/token|; s|epitome-1:7070|127.0.0.1:$a|; s|epitome-2:7070|127.0.0.1:$b|; s|: 15s|: 1s|g;
  s|alerts.yml|$PWD/../../docs/grafana/alerts.yml|" ../compose/prometheus.yml >"$work/prometheus.yml"
promtool check config "$work/prometheus.yml"

start redis redis-server --port "$redis" --requirepass "$REDIS_PASSWORD" --maxmemory-policy noeviction --save '' --dir "$work"
redis_pid=${pids[-1]}
mkdir "$work/iam" "$work/buckets"
ROOT_ACCESS_KEY=root ROOT_SECRET_KEY=other start s3 "$work/versitygw" --quiet --port "127.0.0.1:$s3" \
  --iam-dir "$work/iam" posix "$work/buckets"
# Twice, as each start of compose does it.
for _ in 1 2; do
  PATH=$work:$PATH S3_PASSWORD=$AWS_SECRET_ACCESS_KEY ADMIN_ENDPOINT_URL=http://127.0.0.1:$s3 ADMIN_ACCESS_KEY=root \
    ADMIN_SECRET_KEY=other timeout 60 sh ../compose/bucket.sh
done
for name in front provider; do
  start "$name" nginx -e stderr -c "$work/$name.conf" -g "daemon off; pid $work/$name.pid;"
done
until_true 20 curl -sf "127.0.0.1:$answers"
until_true 20 redis-cli -p "$redis" ping

# epitome NAME PORT PROVIDER'S-PORT CONFIGURATION
epitome() {
  start "$1" "$work/epitome" --config "$work/$4.toml" --listen "127.0.0.1:$2" --data "$work/data-$1" \
    --upstream "http://127.0.0.1:$3/v1"
}
epitome a "$a" "$to_replicas" replica
a_pid=${pids[-1]}
epitome b "$b" "$to_replicas" replica
b_pid=${pids[-1]}
epitome alone "$alone" "$to_alone" alone
for name in a b alone; do
  until_true 20 curl -sf "127.0.0.1:${!name}/-/ready"
done
start prometheus prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
  --web.listen-address="127.0.0.1:$prometheus"

# as KEY PATHS: sends requests with a key through nginx, all at once, and prints the status of each.
as() {
  curl -s --parallel --parallel-immediate --parallel-max 200 -H "Authorization: Bearer $1" -o /dev/null -w '%{http_code}\n' \
    "127.0.0.1:$front$2" 2>/dev/null
}

# nginx limits by key. Requests whose body is slow are under way meanwhile.
as runaway "/v1/models?n=[1-200]" >"$work/codes"
grep -q 200 "$work/codes" && grep -q 429 "$work/codes"
head -c 400000 /dev/zero >"$work/slow"
for _ in {1..42}; do
  curl -s -o /dev/null --limit-rate 10k -H 'Authorization: Bearer many' --data-binary "@$work/slow" "127.0.0.1:$front/v1/slow" &
  slow+=($!)
done
until_true 20 grep -q 'limiting connections by zone "under_way"' "$work/front.log"
[[ $(as other /v1/models) == 200 ]]
kill "${slow[@]}" 2>/dev/null || true
grep -q 'limiting requests, .* by zone "requests"' "$work/front.log"
echo "nginx has refused $(grep -c 429 "$work/codes") of 200 requests of one client, and none of another"

# shows QUERY: Prometheus has a result.
shows() { curl -sf "127.0.0.1:$prometheus/api/v1/query" --data-urlencode "query=$1" | grep -q '"metric"'; }

# turn N [HEADER]: the session's next request, with the output of one more command, to both sides.
session='{"role":"user","content":"Find out why the build fails."}'
turn() {
  local to lines=$(($1 % 5 ? 60 : 1200))
  session+=",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_$1\",\"type\":\"function\",\"function\":"
  session+="{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"cat file$1.go\\\"}\"}}]},"
  session+="{\"role\":\"tool\",\"tool_call_id\":\"call_$1\",\"content\":\"$(
    awk -v n="$lines" -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "%d: value %x of alpha\\n", i, rand() * 2 ^ 31 }'
  )\"}"
  printf '{"model":"some-model","messages":[%s]}' "$session" >"$work/request"
  for to in "$alone" "$front"; do
    curl -sS -f -o /dev/null -H 'Content-Type: application/json' -H 'Authorization: Bearer mine' -H "${2:-x-none: }" \
      --data-binary "@$work/request" "127.0.0.1:$to/v1/chat/completions"
  done
}

# nginx sends all of a client's requests to one replica. It is asked to compact, and that is in no request that the other
# one sees later.
for i in {1..18}; do turn "$i"; done
turn 19 'x-epitome-compact: now'
turn 20
until_true 20 shows 'count(sum by (instance) (epitome_exchanges_total{action!="none"}) > 5) == 1'
until_true 20 shows 'epitome_compactions_total{reason="manual",outcome="completed"}'
if shows "epitome_exchanges_total{instance=\"127.0.0.1:$a\",action!=\"none\"}"; then
  kill_hard "$a_pid"
else
  kill_hard "$b_pid"
fi
for i in {21..40}; do turn "$i"; done
cmp "$work/by-one" "$work/by-replicas"
[[ $(wc -l <"$work/by-one") == 40 ]]
echo "40 requests, the last of $(wc -c <"$work/request") bytes and sent as $(tail -n 1 "$work/by-one" | wc -c): one replica was" \
  "killed after 20, and the other one went on with the same bytes as one alone"

[[ -n $(find "$work/buckets/epitome/artifacts" -type f -name '*.txt' -print -quit) ]]

kill_hard "$redis_pid"
turn 41 # an epitome without requests does not ask for its store
until_true 60 shows 'ALERTS{alertname="EpitomeSharedStoreIsAway"}'
echo "Redis was killed: the alert is pending, and the session goes on"
