package cli

import "syscall"

// detached are the attributes of a process that a console's keys and its end do not reach.
func detached() *syscall.SysProcAttr {
	const detachedProcess = 0x8
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
