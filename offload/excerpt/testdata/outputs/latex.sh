# pdflatex -interaction=nonstopmode thesis.tex: 120 chapters with boxes that are too wide; one uses a command that does not exist.
{ echo '\documentclass{report}\begin{document}'
for i in $(seq 1 120); do
  printf '\\chapter{On the rates of form %s}\nAveryverylongwordthatfitsonnoline%s%s and more words of it.\n\n' $i "$(printf 'x%.0s' $(seq 80))" $i
  [ $i = 61 ] && printf 'The error of the rate is \\ratio{3} here.\n\n'
  printf '\\begin{tabular}{l} averyveryverylongcellthatfitsnowhere%s \\end{tabular}\n' "$(printf 'y%.0s' $(seq 70))"
done
echo '\end{document}'; } > thesis.tex
pdflatex -interaction=nonstopmode thesis.tex
