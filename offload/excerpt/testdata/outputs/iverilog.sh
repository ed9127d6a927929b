# for f in cell_*.v; do iverilog -Wall -o /dev/null $f; done: 120 modules with errors of elaboration; one does not parse.
for i in $(seq -w 1 120); do
  if [ $i = 061 ]; then printf 'module adder(input clk, output reg q);\n always @(posedge clk) q <= carry_in + 1\nendmodule\n' > cell_$i.v
  else printf 'module cell_%s(input [3:0] a, output [7:0] b);\n assign b = undeclared_%s;\n always @(*) begin end\n sub u(a);\nendmodule\nmodule sub(input a, input b);\nendmodule\n' $i $i > cell_$i.v; fi
done
for f in cell_*.v; do iverilog -Wall -o /dev/null $f; done
