/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether KVM really works.  /dev/kvm may open, state its version and create
 * a machine on a host whose CPU cannot run one; only running code tells.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util.h"
#include "host/accel.h"

#define TRIAL_MS 1000
#define STUB_ADDR 0x1000
#define STUB_PORT 0x10

/* mov $'K', %al; out %al, $STUB_PORT; hlt */
static const unsigned char stub[] = { 0xb0, 'K', 0xe6, STUB_PORT, 0xf4 };

__attribute__((format(printf, 2, 3))) static void say(struct accel *a,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->reason, sizeof(a->reason), fmt, ap);
	va_end(ap);
}

/* Whether a line "flags : ..." of /proc/cpuinfo has the word vmx or svm. */
static bool flags_have_virt(char *line)
{
	char *word, *save = NULL;

	for (word = strtok_r(line, " \t\n", &save); word;
	     word = strtok_r(NULL, " \t\n", &save))
		if (strcmp(word, "vmx") == 0 || strcmp(word, "svm") == 0)
			return true;
	return false;
}

static bool cpu_has_virt(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	autofree char *line = NULL;
	bool found = false;
	size_t cap = 0;

	if (!f)
		return false;
	while (!found && getline(&line, &cap, f) > 0)
		if (str_starts(line, "flags"))
			found = flags_have_virt(line);
	fclose(f);
	return found;
}

/* Set the registers so that the stub runs in real mode at STUB_ADDR. */
static int stub_enter(int vcpu)
{
	struct kvm_regs regs = { .rip = STUB_ADDR, .rflags = 2 };
	struct kvm_sregs sregs;

	if (ioctl(vcpu, KVM_GET_SREGS, &sregs) < 0)
		return -1;
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(vcpu, KVM_SET_SREGS, &sregs) < 0)
		return -1;
	return ioctl(vcpu, KVM_SET_REGS, &regs);
}

/* Run the stub; in the child.  0 if it wrote its byte and halted. */
static int stub_run(int kvm)
{
	struct kvm_userspace_memory_region mem = { .memory_size = 0x1000 };
	struct kvm_run *run;
	int vm, vcpu, size;
	bool wrote = false;
	char *page;

	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (vm < 0 || size < (int)sizeof(*run))
		return -1;
	page = mmap(NULL, mem.memory_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -1;
	memcpy(page, stub, sizeof(stub));
	mem.guest_phys_addr = STUB_ADDR;
	mem.userspace_addr = (uintptr_t)page;
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &mem) < 0)
		return -1;
	vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	if (vcpu < 0 || stub_enter(vcpu) < 0)
		return -1;
	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		return -1;
	while (ioctl(vcpu, KVM_RUN, 0) == 0) {
		if (run->exit_reason == KVM_EXIT_HLT)
			return wrote ? 0 : -1;
		if (run->exit_reason != KVM_EXIT_IO ||
		    run->io.port != STUB_PORT)
			return -1;
		wrote = ((char *)run)[run->io.data_offset] == 'K';
	}
	return -1;
}

/* Run the stub in a child, since a broken KVM may never come back. */
static void try_stub(int kvm, struct accel *a)
{
	autoclose int pidfd = -1;
	struct pollfd pfd;
	int status = 1;
	pid_t pid;

	pid = fork();
	if (pid < 0) {
		say(a, "cannot try KVM: %m");
		return;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(stub_run(kvm) == 0 ? 0 : 1);
	}
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	pfd = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	if (pidfd < 0 || poll(&pfd, 1, TRIAL_MS) != 1) {
		kill(pid, SIGKILL);
		poll(&pfd, 1, TRIAL_MS);
	}
	a->kvm = waitpid(pid, &status, WNOHANG) == pid && status == 0;
	if (a->kvm)
		say(a, "KVM works");
	else
		say(a, "/dev/kvm is there, but a trial guest does not run");
}

void accel_probe(struct accel *ret)
{
	autoclose int kvm = -1;

	*ret = (struct accel){ .kvm = false };
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0 && errno == ENOENT)
		say(ret, "there is no /dev/kvm");
	else if (kvm < 0)
		say(ret, "cannot open /dev/kvm: %m");
	else if (!cpu_has_virt())
		say(ret, "the CPU shows neither vmx nor svm");
	else if (ioctl(kvm, KVM_GET_API_VERSION, 0) != KVM_API_VERSION)
		say(ret, "/dev/kvm has an unknown version");
	else
		try_stub(kvm, ret);
}
