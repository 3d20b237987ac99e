// Package faulttest makes the file operations of a function fail, as they do on a disk that breaks, so that a test sees what a
// program makes of each failure. The calls themselves are real: the kernel asks the test about each of them first (seccomp).
package faulttest
