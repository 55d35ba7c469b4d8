/* SPDX-License-Identifier: MIT
 *
 * scope.c: which requests need a token. A request is looked at by its method and the bytes of its
 * path alone, before anything else of it is read. A rule covers at least what the routes that it
 * guards match, so no spelling of a path gets past it.
 */
#include "text.h"

#include <string.h>

struct rule {
    const char *method;
    const char *path;
    bool below; /* paths that go on behind it, too */
    enum api_scope scope;
};

static const struct rule rules[] = {
    {"PUT", "/v1/learned", true, API_SCOPE_WRITE},
    {"DELETE", "/v1/learned", true, API_SCOPE_WRITE},
    {"GET", "/v1/cache", false, API_SCOPE_ADMIN},
    {"HEAD", "/v1/cache", false, API_SCOPE_ADMIN},
    {"DELETE", "/v1/cache", false, API_SCOPE_ADMIN},
    {"POST", "/v1/warm", false, API_SCOPE_ADMIN},
};

/* RFC 9112, 3.2.2: the path of an absolute target. */
static struct api_bytes path_of(struct api_bytes t)
{
    if (t.len > 7 && api__equal_case((struct api_bytes){t.at, 7}, "http://")) {
        const char *slash = memchr(t.at + 7, '/', t.len - 7);
        size_t skip = slash ? (size_t)(slash - t.at) : t.len;
        t = (struct api_bytes){t.at + skip, t.len - skip};
    }
    const char *mark = t.len ? memchr(t.at, '?', t.len) : NULL;
    if (mark)
        t.len = (size_t)(mark - t.at);
    return t;
}

enum api_scope api_scope(const char *method, struct api_bytes target)
{
    struct api_bytes path = path_of(target);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        size_t n = strlen(r->path);
        if (strcmp(method, r->method) != 0 || path.len < n || memcmp(path.at, r->path, n) != 0)
            continue;
        if (path.len == n || (r->below && path.at[n] == '/'))
            return r->scope;
    }
    return API_SCOPE_NONE;
}
