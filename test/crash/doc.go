// Package crash kills Pudu with SIGKILL while it works, starts it again, and looks whether anything was lost or
// happened twice: `make crash`. A worker process executes a run of thirty turns, whose tools count what they do in
// files outside of the database; the parent kills it at moments drawn from a seed until the run has ended, and compares
// what is there with an undisturbed run.
//
//	script, tools                         what the model asks for, and the tools
//	worker, watched, reader, marks        the process that is killed: the real manager, store and sandbox. It prints a mark
//	                                       for whatever it does
//	moments, site, campaign               when to kill it, and doing so
//	death, boundary                       kills by its own hand, at every write to the store
//	way                                   how runs end that do not end with an answer; these are killed at every write too
//	promises, report                      what must be true at the end
//	backlog                               how soon a server goes on with the first of many unfinished runs
//
// TestCampaign does that for `make crash`; it fails if anything is not as promised, and then names the seed and keeps
// the folders of the runs concerned. The other tests are the same in short, and let the disk and the database server
// fail.
package crash
