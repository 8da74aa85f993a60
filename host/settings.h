/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The configuration of sandboxd: sandboxd.yaml.  Without that file all is at
 * its default.  Where the state is kept is not said there but in the
 * environment, for sandboxctl must find the socket without reading this file.
 */

#include "common/err.h"
#include "common/log.h"

struct settings {
	char *file;	     /* what was read; NULL: there is none */
	char *libvirt_uri;   /* NULL: the embedded driver */
	char *qemu_user;     /* NULL: chosen; see vm_host_open() */
	char *images_dir;    /* NULL: paths_images() */
	char *templates_dir; /* NULL: paths_templates() */
	char *default_template;
	int max_sandboxes;
	int tcp_port; /* of 127.0.0.1; 0: a free one, -1: none */
	enum log_level log_level;
};

/*
 * Read paths_config(), which must exist if the environment names it.
 * SB_INVALID with "FILE:LINE: key: what is wrong".
 */
int settings_load(struct settings *ret, struct sb_err *err);
void settings_done(struct settings *s);
#define autosettings __attribute__((cleanup(settings_done)))
