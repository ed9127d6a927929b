module wmsimport

go 1.26
