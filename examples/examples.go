// Package examples holds the files that the README and the demonstration work with.
package examples

import _ "embed"

// SalesCSV is sales.csv: two years of sales by month, region and product.
//
//go:embed sales.csv
var SalesCSV []byte
