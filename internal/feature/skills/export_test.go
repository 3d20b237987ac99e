package skills

// CheckFile refuses a file that an agent cannot write.
func CheckFile(name string) error { return checkFile(Order{Action: WriteFile, File: name}) }
