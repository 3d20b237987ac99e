package shell

import "time"

// progressEvery is how often people see where a command is.
const progressEvery = 250 * time.Millisecond

// showProgress tells the last line that the command printed, when it changed, until stop returns.
func showProgress(o *output, show func(string)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		last := ""
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if line := o.lastLine(); line != last {
				last = line
				show(line)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
