package store

import "golang.org/x/sys/windows"

// freeSpace returns the bytes that this user may still write to the disk of a folder.
func freeSpace(folder string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}
