package pages

// HTML is for the tests.
var HTML = html
