# A deploy script of set -x: it copies 150 pages, packs them, and one step in the middle fails without stopping it.
cat > deploy.sh <<'END'
set -x
mkdir -p site out
for n in $(seq -f %03g 1 150); do echo "<h1>error $n</h1>" >site/error_$n.html; done
for n in $(seq -f %03g 1 75); do cp -v site/error_$n.html out/; done
cp -v site/errors.css out/
tar -cf out/site.tar -C missing_dir .
for n in $(seq -f %03g 76 150); do cp -v site/error_$n.html out/; done
gzip -v9 out/*.html
ls out | wc -l
END
LC_ALL=C bash deploy.sh
