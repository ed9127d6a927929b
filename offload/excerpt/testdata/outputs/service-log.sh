# The log of a service in Python's own form that answers 560 requests; at one of them its database stops answering, and comes back.
cat > serve.py <<'END'
import logging, sys
logging.basicConfig(stream=sys.stdout, format='%(levelname)-8s %(name)s %(message)s', level=logging.INFO)
web, pool = logging.getLogger('web'), logging.getLogger('pool')
for n in range(1, 561):
    if n == 283:
        pool.warning('no answer from 10.0.3.7:5432 for 5.0 s, 12 connections wait')
        pool.error('checkout of connection 4 failed: server closed the connection unexpectedly')
        web.error('POST /refunds/%d answered 503 after 5021 ms', n)
        pool.warning('pool of 10.0.3.7:5432 is open again, 12 connections made')
        continue
    web.info('%s /%s/%d answered %d after %d ms', ['GET', 'GET', 'POST', 'GET'][n % 4], ['errors', 'refunds', 'orders'][n % 3], n, [200, 200, 201, 304][n % 4], n * 37 % 91)
    if n % 60 == 0:
        pool.info('4 of 10 connections in use, 0 errors since the last report')
END
python3 serve.py
