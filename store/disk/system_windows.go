package disk

import "golang.org/x/sys/windows"

// freeSpace returns what this user may still write to the disk that folder is on, in bytes.
func freeSpace(folder string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}
