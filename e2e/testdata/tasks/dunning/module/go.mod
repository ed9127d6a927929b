module dunning

go 1.26
