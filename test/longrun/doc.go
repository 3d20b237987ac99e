// Package longrun plays one long conversation with the server as a process: uploads, a plan, images, results that are
// put into files, a warning of the budget, compactions, a call that a person has to approve and a question to the user.
// On the way the server is killed twice, while the model speaks and while a command runs, and stopped once while a
// question is open. In the end everything is there once, and no request of all these was one that a strict provider
// would refuse. The test needs Linux.
//
//	script_test.go   what the model does, step by step, and what must come of it
//	model_test.go    the model, a server in the test's process that lives on when the other one is killed
//	request_test.go  what is looked for in each request
//	node_test.go     the server as a process
//	client_test.go   the client; package viewer follows its runs
//	longrun_test.go  the conversation
package longrun
