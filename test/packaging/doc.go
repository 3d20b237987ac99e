// Package packaging tests what is in the folder packaging: that make install puts the program and a unit where they
// belong that systemd takes, and, behind the build tag "image", that the image is built by Docker, starts, and runs a
// sandboxed command.
//
// The test of the image needs root, Docker and a download of 25 MB of Debian's packages, so it is not part of `make
// test`: `make test-image` runs it.
package packaging
