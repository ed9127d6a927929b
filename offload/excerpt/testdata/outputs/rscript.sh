# for f in fit_*.R; do Rscript $f; done: 60 scripts that tell eight folds and a warning each; one has no such column.
for i in $(seq -w 1 60); do
  if [ $i = 31 ]; then printf 'd <- data.frame(a=1:3)\nm <- lm(price ~ size, data=d)\n' > fit_$i.R
  else printf 'for (k in 1:8) cat("fitted model %s, fold", k, "of 8, error", k*0.13, "on 1200 rows of the sample\\n")\nwarning("fold sizes differ")\n' $i > fit_$i.R; fi
done
for f in fit_*.R; do Rscript $f; done
