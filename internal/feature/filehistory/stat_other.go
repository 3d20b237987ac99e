//go:build !unix

package filehistory

import "io/fs"

const openNonblock = 0

func inodeOf(fs.FileInfo) (inode uint64, changed int64) { return 0, 0 }

func ownerOf(fs.FileInfo) (uid, gid int) { return 0, 0 }
