# docker build of 12 services from a static busybox, one after another; a step of the sixth fails.
for s in $(seq -w 1 12); do
  mkdir -p service-$s
  cp /bin/busybox service-$s/busybox
  { echo 'FROM scratch'; echo 'COPY busybox /bin/busybox'; echo 'COPY busybox /bin/sh'
    for r in 1 2 3 4 5 6; do
      file="/etc/errors_$r.conf"; [ $s-$r = 06-4 ] && file='/etc/missing/errors_4.conf'
      echo "RUN for i in 1 2 3 4 5 6 7 8; do echo \"setting \$i of part $r written, 0 errors\"; done; echo part $r >$file"
    done; } > service-$s/Dockerfile
done
sed -i 's#RUN for#RUN busybox mkdir -p /etc; for#' service-*/Dockerfile
for s in $(seq -w 1 12); do docker build --progress=plain --network=none -t shop/service-$s service-$s; done
