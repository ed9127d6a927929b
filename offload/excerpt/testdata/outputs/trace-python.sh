# A Python worker that logs each of 300 jobs; job 160 raises, with a cause.
cat > worker.py <<'END'
import json, logging, sys
logging.basicConfig(stream=sys.stdout, format='%(asctime)s %(levelname)s %(name)s: %(message)s', level=logging.INFO)
log = logging.getLogger('worker')

class RateMissing(Exception): pass

def rate(table, currency):
    try:
        return table[currency]
    except KeyError as e:
        raise RateMissing(f'no rate for {currency!r} on 2026-01-02') from e

def job(n):
    currency = 'XTS' if n == 160 else 'EUR'
    return n * rate({'EUR': 1.0}, currency)

for n in range(1, 301):
    try:
        log.info('job %d ended, result %.2f, error count 0', n, job(n))
    except RateMissing:
        log.exception('job %d is given up', n)
print(json.dumps({'jobs': 300, 'ended': True}))
END
python3 worker.py
