package form

import (
	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// clusterRows are what schedulers, MPI, accelerators and training write.
var clusterRows = []Row{
	// Slurm and LSF
	{Tool: "slurm", Kind: Failure, Whole: true, first: "slurmstepd: error: ",
		sample: "slurmstepd: error: *** JOB 918270 ON gpu-07 CANCELLED AT 2026-11-20T09:31:14 DUE TO TIME LIMIT ***"},
	{Tool: "slurm", Kind: Failure, Whole: true, first: "srun: error: ", Says: FailsIfLast,
		sample: "srun: error: gpu-07: task 0: Out Of Memory"},
	{Tool: "slurm", Kind: Failure, Whole: true, first: "sbatch: error: ", Says: FailsIfLast,
		sample: "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"},
	{Tool: "sacct", Kind: Failure, Late: true, begins: digits,
		like:   pattern.Of(`^\d+(_\d+)?(\.\w+\+?)? .* (FAILED|TIMEOUT|NODE_FAIL|OUT_OF_ME(\+|MORY)|BOOT_FAIL|DEADLINE|CANCELLED( by \d+|\+)?) +\d+:\d+( |$)`),
		sample: "918271          evalall OUT_OF_ME+    0:125 "},
	{Tool: "bjobs", Kind: Failure, Late: true, needs: glance.Exit, begins: digits, like: pattern.Of(`^\d+ +\S+ +EXIT +\S+ +\S+ +\S+ +\S`),
		sample: "4711    me      EXIT  gpu        login1      gpu-07      train      Nov 20 09:31"},
	// MPI
	{Tool: "MPI", Kind: Failure, Whole: true, first: "MPI_ABORT was invoked on rank ", Says: Fails,
		sample: "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD"},
	{Tool: "MPI", Kind: Reason, first: "with errorcode ", like: pattern.Of(`^with errorcode -?\d+\.$`), sample: "with errorcode 17."},
	{Tool: "MPI", Kind: Failure, Whole: true, begins: "mp", has: " noticed that process rank ", Says: Fails,
		sample: "mpirun noticed that process rank 3 with PID 0 on node node12 exited on signal 11 (Segmentation fault)."},
	{Tool: "MPI", Kind: Failure, begins: "mp", has: " detected that one or more processes exited with non-zero status", Says: Fails,
		sample: "mpirun detected that one or more processes exited with non-zero status, thus causing"},
	{Tool: "MPI", Kind: Failure, first: "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", Says: Fails,
		sample: "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"},
	{Tool: "MPI", Kind: Failure, Whole: true, first: "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ", Says: Fails,
		sample: "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"},
	// accelerators
	{Tool: "CUDA", Kind: Failure, Whole: true, needs: glance.Fail, has: ": block: [",
		like:   pattern.Of("\\.cuh?:\\d+: .*: block: \\[.*\\], thread: \\[.*\\] Assertion `.*` failed\\."),
		sample: "../aten/src/ATen/native/cuda/Indexing.cu:1284: select: block: [412,0,0], thread: [64,0,0] Assertion `i < n` failed."},
	{Tool: "nvidia-smi", Kind: Failure, Whole: true, first: "NVIDIA-SMI has failed because ", Says: Fails,
		sample: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."},
	{Tool: "nvidia-smi", Kind: Failure, Whole: true, first: "Failed to initialize NVML: ", Says: Fails,
		sample: "Failed to initialize NVML: Driver/library version mismatch"},
	{Tool: "nvidia-smi", Kind: Failure, needs: glance.Trouble, first: "|", has: " GPU is lost ",
		sample: "| ERR!  ERR!  ERR!           N/A  /  N/A  |   GPU is lost          |     N/A      Default |"},
	{Tool: "kernel", Kind: Failure, Whole: true, first: "NVRM: Xid (",
		sample: "[ 4242.1234] NVRM: Xid (PCI:0000:0b:00): 79, pid=4242, name=python, GPU has fallen off the bus."},
	// glog and klog, of which PyTorch's, Kubernetes' and many other programs' logs are; a level's letter, and a date
	{Tool: "glog", Kind: Failure, Loose: true, begins: "EF[",
		like:   pattern.Of(`^\[?[EF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\s\]]+:\d+\] `),
		sample: "E1120 09:48:16.300000 139990 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -6) local_rank: 3"},
	{Tool: "glog", Kind: Warning, begins: "W[",
		like:   pattern.Of(`^\[?W\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\s\]]+:\d+\] `),
		sample: "W1120 09:41:14.114210    4242 pool.cc:88] pool is nearly empty"},
	{Tool: "training", Kind: Warning, Same: true, needs: glance.Undefined,
		like:   pattern.Of(`(?i)\b\w*(loss|grad_norm)['"]?[ :=|]+nan\b`),
		sample: "step 5120 | loss nan | grad_norm nan | lr 3.0e-04"},
	{Tool: "tqdm", Kind: Noise, has: "%|", like: pattern.Of(`\d%\|[^|]*\| *\S+/\S+ \[\S*<`),
		sample: "Epoch 3:  34%|███▍      | 102/300 [00:42<01:18, 11.20it/s, loss=0.412]"},
}
