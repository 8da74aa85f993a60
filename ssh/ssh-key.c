/* SPDX-License-Identifier: Apache-2.0 */
/* Key pairs, and quoting for the guest's shell. */
#include "config.h"

#include <libssh/libssh.h>
#include <stdlib.h>
#include <string.h>

#include "ssh/ssh.h"

DEFINE_AUTO(ssh_key, ssh_key_free, auto_key_free)
#define autokey __attribute__((cleanup(auto_key_free)))

static void wipe_free(char *s)
{
	if (!s)
		return;
	explicit_bzero(s, strlen(s));
	free(s);
}

/* libssh's strings are freed by libssh. */
static char *take_string(char *theirs)
{
	char *s = xstrdup(theirs);

	explicit_bzero(theirs, strlen(theirs));
	ssh_string_free_char(theirs);
	return s;
}

int ssh_keypair_new(struct ssh_keypair *ret, struct sb_err *err)
{
	autokey ssh_key key = NULL;
	char *priv = NULL, *pub = NULL;

	if (ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key) != SSH_OK ||
	    ssh_pki_export_privkey_base64(key, NULL, NULL, NULL, &priv) !=
		    SSH_OK)
		return sb_fail(err, SB_SYSTEM, "cannot make an SSH key pair");
	ret->private_pem = take_string(priv);
	if (ssh_pki_export_pubkey_base64(key, &pub) != SSH_OK) {
		wipe_free(ret->private_pem);
		ret->private_pem = NULL;
		return sb_fail(err, SB_SYSTEM, "cannot export an SSH key");
	}
	ret->public_line = xasprintf("ssh-ed25519 %s", pub);
	ssh_string_free_char(pub);
	return 0;
}

void ssh_keypair_done(struct ssh_keypair *k)
{
	wipe_free(k->private_pem);
	free(k->public_line);
	*k = (struct ssh_keypair){ 0 };
}

char *ssh_quote(const char *word)
{
	struct buf b = { 0 };

	buf_adds(&b, "'");
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			buf_adds(&b, "'\\''");
		else
			buf_add(&b, p, 1);
	}
	buf_adds(&b, "'");
	return b.p;
}
