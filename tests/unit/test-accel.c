/* SPDX-License-Identifier: Apache-2.0 */
/* The trial of KVM: it ends, says why, and leaves no child behind. */
#include "config.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/accel.h"
#include "tests/unit/tap.h"

int main(void)
{
	struct accel a = { .kvm = true };

	accel_probe(&a);
	printf("# kvm %d: %s\n", a.kvm, a.reason);
	ok(a.reason[0] != '\0', "a reason is given");
	ok(!a.kvm || access("/dev/kvm", R_OK | W_OK) == 0,
	   "no KVM without its device");
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	   "no child is left");
	return tap_done();
}
