# git merge of 75 branches, one after another; one of them conflicts.
export GIT_AUTHOR_NAME=dev GIT_AUTHOR_EMAIL=dev@example.com GIT_COMMITTER_NAME=dev GIT_COMMITTER_EMAIL=dev@example.com
export GIT_AUTHOR_DATE=2026-01-02T03:04:05Z GIT_COMMITTER_DATE=2026-01-02T03:04:05Z
{ git init -q -b main . ; git commit -q --allow-empty -m start
for b in $(seq -w 1 75); do
  git checkout -q -b error-page-$b main
  for f in 1 2 3; do echo "page $b, part $f" > page_${b}_$f.html; done
  [ $b = 39 ] && echo 'footer 39' > footer.html
  [ $b = 36 ] && echo 'footer 36' > footer.html
  git add . ; git commit -q -m "Add the page of error $b"
done
git checkout -q main; } >&2
for b in $(seq -w 1 75); do
  echo "== merging error-page-$b"
  git merge --no-ff --stat -m "Merge branch error-page-$b" error-page-$b || git merge --abort
  git log -1 --stat --format=fuller
done
