package config

// FileHistory bounds what is kept of what a thread's files were. Zero means the default.
type FileHistory struct {
	// Bytes and Files bound the copies of a thread; FileBytes the file that is copied.
	Bytes     Bytes `key:"bytes"`
	FileBytes Bytes `key:"file_bytes"`
	Files     int   `key:"files" allow:"[1,10000000]"`
	Line      int   `key:"@line"`
}

// resolve warns of bounds that can never be reached.
func (h *FileHistory) resolve(d *decoder, disk Bytes) {
	if disk > 0 && h.Bytes >= disk {
		d.warnf(h.Line, "file_history.bytes",
			"has no effect: the copies and the files stay within sandbox.limits.disk together, which is not more")
	}
	if h.Bytes > 0 && h.FileBytes > h.Bytes {
		d.warnf(h.Line, "file_history.file_bytes",
			"has no effect: all copies together may have file_history.bytes, which is less")
	}
}
