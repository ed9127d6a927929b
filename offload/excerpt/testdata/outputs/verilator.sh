# for f in cell_*.v; do verilator --lint-only -Wall $f; done: 70 modules with widths that do not fit; one uses a name that does not exist.
for i in $(seq -w 1 70); do
  if [ $i = 36 ]; then printf 'module cell_%s(input clk, output reg q);\n always @(posedge clk) q <= carry_in + 1;\nendmodule\n' $i > cell_$i.v
  else printf 'module cell_%s(input [3:0] a, output [7:0] b);\n wire [8:0] w;\n assign w = a;\n assign b = w;\nendmodule\n' $i > cell_$i.v; fi
done
for f in cell_*.v; do verilator --lint-only -Wall $f; done
