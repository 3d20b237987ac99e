// Package sandboxtest is what every [sandbox.Provider] must pass: [Run] holds it to the contract, [RunEscape] tries to
// get out of it. Both start real sandboxes; nothing is skipped where that fails.
package sandboxtest
