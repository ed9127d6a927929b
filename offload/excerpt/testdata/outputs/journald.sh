# A journal of 450 messages of six units, made with systemd-journal-remote and read with journalctl; one unit is killed.
python3 - > j.export <<'END'
units = ['nginx', 'postgresql@15-main', 'queue', 'cron', 'mailer', 'ledger']
say = ['GET /error/%d 200', 'checkpoint complete: wrote %d buffers', 'job %d done, 0 errors', '(root) CMD (run-parts %d)',
       'message %d accepted', 'posted entry %d']
def put(i, unit, text, pri=6, pid=None, ident=None):
    us = 1767323045000000 + i * 731000
    print('__CURSOR=s=0;i=%x;b=0;m=%x;t=%x;x=%x' % (i, us, us, i))
    print('__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=00000000000000000000000000000001' % (us, us - 1767323000000000))
    print('_MACHINE_ID=00000000000000000000000000000002\n_HOSTNAME=shop\nPRIORITY=%d\nSYSLOG_IDENTIFIER=%s\n_PID=%d\n_SYSTEMD_UNIT=%s.service\nMESSAGE=%s\n' % (pri, ident or unit.split('@')[0], pid or 400 + len(unit), unit, text))
for i in range(450):
    k = i * 7 % 6 if i % 5 else i % 6
    put(i, units[k], say[k] % (i * 37 % 1000))
    if i == 231:
        put(i, 'kernel', 'Out of memory: Killed process 406 (ledger) total-vm:4209912kB, anon-rss:3980116kB, file-rss:0kB, shmem-rss:0kB, UID:998 pgtables:8012kB oom_score_adj:0', 3, 1, 'kernel')
        put(i, 'init', 'ledger.service: Main process exited, code=killed, status=9/KILL', 5, 1, 'systemd')
        put(i, 'init', "ledger.service: Failed with result 'oom-kill'.", 4, 1, 'systemd')
        put(i, 'init', 'ledger.service: Scheduled restart job, restart counter is at 1.', 6, 1, 'systemd')
END
/usr/lib/systemd/systemd-journal-remote -o $PWD/system.journal j.export >&2
TZ=UTC journalctl --file system.journal --no-pager -o short-iso
