.PHONY: build check test race fuzz bench windows prices

# The program, as ./epitome.
build:
	go build -o epitome .

# Format, vet and staticcheck; the pinned version stands in .ci/run.
check:
	bash .ci/run check

# The README's test command.
test:
	go test ./...

# The same under the race detector; needs a C compiler.
race:
	go test -race ./...

# Every fuzz target for a moment; FUZZTIME=1m make fuzz for longer.
fuzz:
	bash .ci/run fuzz

# Added latency and memory against nginx and bare fasthttp; then client gone to upstream closed.
bench:
	go run . bench load
	go run . bench cancel
	go run . bench tokens

# The built-in table of models' windows, from the release that window/table/make.go names.
windows:
	cd window/table && go run make.go

# The built-in table of prices, from the release that event/money/table/make.go names; needs npm and node.
prices:
	cd event/money/table && go run make.go
