package filehistory

import "syscall"

func changedAt(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
