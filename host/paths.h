/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Where things are: root has the system's folders, everybody else their own,
 * and the environment overrides each.  sandboxctl and sandboxd must agree on
 * all of it, so both ask here.  Every path is absolute and the caller's;
 * nothing is created.
 */

char *paths_state(void); /* $SANDBOX_STATE */
char *paths_run(void);
char *paths_socket(void);
char *paths_lock(void);
char *paths_log(void);	      /* of sandboxd */
char *paths_token(void);      /* for sandboxd's TCP port */
char *paths_config(void);     /* sandboxd.yaml; $SANDBOX_CONFIG */
char *paths_images(void);     /* $SANDBOX_IMAGES */
char *paths_recipes(void);    /* $SANDBOX_RECIPES */
char *paths_bundle(void);     /* $SANDBOX_BUNDLE */
char *paths_sandboxd(void);   /* $SANDBOXD */
char *paths_ssh_helper(void); /* sandboxctl-ssh */

/*
 * The folders of templates in the order of search: $SANDBOX_TEMPLATES alone,
 * or the user's, the administrator's and ours.  Ends with NULL.
 */
char **paths_templates(void);

/* Free a list of strings that ends with NULL. */
void paths_list_free(char **list);
