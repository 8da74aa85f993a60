/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, series and indexes of pandas in a result. */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "host/result-check.h"

static bool is_kind(const json_t *node, const char *kind)
{
	const char *t = result_kind(node);

	return t && strcmp(t, kind) == 0;
}

int check_column(struct check *c, const json_t *node)
{
	return check_text(node, "dtype", 256)
		       ? check_items(c, json_object_get(node, "v"))
		       : check_bad(c, "a column has no type");
}

/* A column, in a frame: an array of one dimension, or a list with a type. */
static int check_part(struct check *c, const json_t *node)
{
	if (is_kind(node, "ndarray")) {
		if (json_array_size(json_object_get(node, "shape")) != 1)
			return check_bad(c, "a column has a shape");
	} else if (!is_kind(node, "column")) {
		return check_bad(c, "a column is none");
	}
	return check_node(c, node);
}

/* Rows of several names: a list of tuples with one item for each. */
static int check_rows(struct check *c, const json_t *rows, size_t names)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (!is_kind(row, "tuple") ||
		    json_array_size(json_object_get(row, "v")) != names)
			return check_bad(
				c, "an index has not as many parts as names");
	return check_node(c, rows);
}

/* The range must be one whose length we can tell. */
static int check_index_range(struct check *c, const json_t *node)
{
	if (check_node(c, node) < 0)
		return -1;
	for (size_t i = 0; i < 3; i++)
		if (!json_is_integer(
			    json_array_get(json_object_get(node, "v"), i)))
			return check_bad(c, "an index is out of range");
	return 0;
}

int check_index(struct check *c, const json_t *node)
{
	const json_t *names = json_object_get(node, "names");
	const json_t *data = json_object_get(node, "data");

	if (!json_is_array(names) || json_array_size(names) < 1)
		return check_bad(c, "an index has no names");
	if (check_items(c, names) < 0)
		return -1;
	if (json_is_array(data))
		return check_rows(c, data, json_array_size(names));
	if (is_kind(data, "range"))
		return check_index_range(c, data);
	return check_part(c, data);
}

/* The node at key, which must be an index. */
static const json_t *take_index(struct check *c, const json_t *node,
				const char *key)
{
	const json_t *index = json_object_get(node, key);

	if (!is_kind(index, "index")) {
		check_bad(c, "a frame has no index");
		return NULL;
	}
	return check_node(c, index) < 0 ? NULL : index;
}

int check_frame(struct check *c, const json_t *node)
{
	const json_t *columns = take_index(c, node, "columns"), *column;
	const json_t *index = columns ? take_index(c, node, "index") : NULL;
	const json_t *data = json_object_get(node, "data");
	size_t i;

	if (!index)
		return -1;
	if (!json_is_array(data) ||
	    json_array_size(data) != result_rows(columns))
		return check_bad(c, "a frame has not as many columns as names");
	json_array_foreach(data, i, column) {
		if (check_part(c, column) < 0)
			return -1;
		if (result_rows(column) != result_rows(index))
			return check_bad(
				c, "a frame has columns of unequal length");
	}
	return 0;
}

int check_series(struct check *c, const json_t *node)
{
	const json_t *index = take_index(c, node, "index");
	const json_t *data = json_object_get(node, "data");
	const json_t *name = json_object_get(node, "name");

	if (!index)
		return -1;
	if (!name || check_node(c, name) < 0)
		return check_bad(c, "a series has no name");
	if (check_part(c, data) < 0)
		return -1;
	return result_rows(data) == result_rows(index)
		       ? 0
		       : check_bad(c,
				   "a series has not the length of its index");
}
