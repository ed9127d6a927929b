package load

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// userHz is the unit of the times in /proc/PID/stat: ticks per second, 100 on every Linux that Go runs on.
const userHz = 100

// childAttributes lets a child die with its parent, so that a killed run leaves nothing behind.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// CPUTime returns the user and system time that process pid has used, in steps of 10 ms.
func CPUTime(pid int) (time.Duration, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/stat"
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("cannot read CPU time: %w", err)
	}
	ticks, err := statTicks(string(stat))
	if err != nil {
		return 0, fmt.Errorf("cannot read CPU time from %s: %w", path, err)
	}
	return time.Duration(ticks) * time.Second / userHz, nil
}

// statTicks returns utime + stime of a stat line. The second field, the program's name in parentheses, may hold
// anything.
func statTicks(stat string) (int64, error) {
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 13 {
		return 0, errors.New("too few fields")
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return user + system, err
}

// ResidentBytes returns the resident memory of process pid.
func ResidentBytes(pid int) (int64, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/status"
	status, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("cannot read memory: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("cannot read memory from %s: no VmRSS", path)
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	return kb << 10, err
}
