.PHONY: build check test race fuzz bench windows prices release release-twice root image systems sizes

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

# Added latency, CPU and memory against nginx and bare fasthttp.
bench:
	go run . bench load

# The built-in table of models' windows, from the release that window/table/make.go names.
windows:
	cd window/table && go run make.go

# The built-in table of prices, from the release that event/money/table/make.go names; needs npm and node.
prices:
	cd event/money/table && go run make.go

# For six systems: archives with checksums and bills of materials, in dist. TARGETS=linux/amd64,windows/arm64 makes fewer.
TARGETS ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64
release:
	go run ./command/release -targets $(TARGETS)

# The same from two folders, without a cache: every byte must be equal. Takes minutes.
release-twice:
	go run ./command/release twice -targets $(TARGETS)

# What a container has, unpacked in dist/root; and the image of it.
root:
	go run ./command/release root
image: root
	buildah build --format docker -t epitome -f command/release/Containerfile dist/root

# Vet for the systems that epitome is built for and not run on: two minutes of a processor.
systems:
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...

# What each module adds to the program.
sizes:
	go run ./command/release sizes
