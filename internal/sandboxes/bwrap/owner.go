//go:build linux

package bwrap

// Owner returns the user and group of the host under which the sandbox of that id runs: the owner that files need which
// the server makes for it. Zero means that the server's own files are fine.
func (p *Provider) Owner(id string) (uid, gid int) {
	who, err := p.cfg.identity(id)
	if err != nil || !who.drop {
		return 0, 0
	}
	return who.uid, who.gid
}
