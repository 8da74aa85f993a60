/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of foreign headers, in a form that cppcheck understands. */
#define json_array_foreach(list, i, entry)                                   \
	for (i = 0;                                                          \
	     i < json_array_size(list) && (entry = json_array_get(list, i)); \
	     i++)
#define json_object_foreach(obj, key, value)             \
	for (key = json_first_key(obj);                  \
	     key && (value = json_object_get(obj, key)); \
	     key = json_next_key(obj, key))
#define json_object_foreach_safe(obj, next, key, value)             \
	for (key = json_first_key(obj), next = json_next(obj, key); \
	     key && (value = json_object_get(obj, key));            \
	     key = next, next = json_next(obj, key))
#define LIST_HEAD(name, type)       \
	struct name {               \
		struct type *first; \
	}
#define LIST_ENTRY(type)           \
	struct {                   \
		struct type *next; \
	}
#define LIST_FOREACH(var, head, field) \
	for (var = (head)->first; var; var = var->field.next)
#define TAILQ_HEAD(name, type)      \
	struct name {               \
		struct type *first; \
	}
#define TAILQ_ENTRY(type)          \
	struct {                   \
		struct type *next; \
	}
#define TAILQ_FOREACH(var, head, field) \
	for (var = (head)->first; var; var = var->field.next)
/* Of Python.h. */
#define Py_BEGIN_ALLOW_THREADS {
#define Py_END_ALLOW_THREADS }
#define Py_RETURN_NONE return Py_None
#define Py_RETURN_TRUE return Py_True
#define Py_RETURN_FALSE return Py_False
