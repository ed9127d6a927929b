module paygate

go 1.26
