/* SPDX-License-Identifier: Apache-2.0 */
/* bundle-hash DIR: prints the hash of a guest bundle, for its .hash file. */
#include "config.h"

#include <stdio.h>

#include "ssh/install.h"

int main(int argc, char **argv)
{
	char hash[SHA256_HEX_LEN + 1];
	struct sb_err err;

	if (argc != 2) {
		fprintf(stderr, "usage: bundle-hash DIR\n");
		return 2;
	}
	if (bundle_hash(argv[1], hash, &err) < 0) {
		fprintf(stderr, "bundle-hash: %s\n", err.msg);
		return sb_code_exit(err.code);
	}
	return puts(hash) < 0;
}
