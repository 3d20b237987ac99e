package operations

// HTML is for the tests.
var HTML = html
