// Package realmodel drives a language model that really runs: SmolLM2-135M-Instruct behind llama.cpp's server, over the
// OpenAI wire. It is too weak to be an agent; what is shown is the wire: that text streams, that a tool call comes out,
// that cancelling stops the computing, that usage is counted, and that a run goes through. TestSkills tells how often
// it does what four of the skills are for, whose scripts do the hard part; that it does not is no failure.
//
// The tests of the wire need a compiler and minutes, so they stand behind the build tag "realmodel": `make test-model`
// installs the model with scripts/real-model and runs them. When one fails, the server's last words stand below it.
package realmodel
