module meterd

go 1.26
