/* SPDX-License-Identifier: MIT
 *
 * state.c: see state.h.
 */
#include "kit/state.h"

#include <dirent.h>
#include <ftw.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void kit_state_tokens(struct kit_state *s, const char *const *pairs)
{
    FILE *f = fopen(s->tokens, "w");
    assert_non_null(f);
    for (int i = 0; pairs[i]; i += 2) {
        struct sha256_ctx context;
        unsigned char sum[SHA256_DIGEST_SIZE];
        sha256_init(&context);
        sha256_update(&context, strlen(pairs[i]), (const uint8_t *)pairs[i]);
        sha256_digest(&context, sizeof sum, sum);
        fprintf(f, "t%d:", i / 2);
        for (size_t b = 0; b < sizeof sum; b++)
            fprintf(f, "%02x", sum[b]);
        fprintf(f, ":%s\n", pairs[i + 1]);
    }
    fclose(f);
}

void kit_state_make(struct kit_state *s, const char *const *more)
{
    size_t n = 4;
    snprintf(s->root, sizeof s->root, "/tmp/posenc-state-XXXXXX");
    assert_non_null(mkdtemp(s->root));
    snprintf(s->folder, sizeof s->folder, "%s/state", s->root);
    snprintf(s->tokens, sizeof s->tokens, "%s/tokens", s->root);
    kit_state_tokens(s, (const char *const[]){KIT_WRITER, "write", KIT_READER, "read", NULL});
    s->options[0] = "--state-dir";
    s->options[1] = s->folder;
    s->options[2] = "--auth-token-file";
    s->options[3] = s->tokens;
    while (more && *more && n < 15)
        s->options[n++] = *more++;
    s->options[n] = NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void kit_state_remove(struct kit_state *s)
{
    assert_int_equal(nftw(s->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

unsigned kit_state_files(const struct kit_state *s, const char *folder)
{
    char path[128];
    unsigned n = 0;
    snprintf(path, sizeof path, "%s/%s", s->folder, folder);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += *e->d_name != '.';
    closedir(d);
    return n;
}

size_t kit_npy(char *out, unsigned rows, unsigned width, unsigned seed)
{
    char dict[96];
    uint32_t z = seed * 2654435761u + 1;
    int n = snprintf(dict, sizeof dict,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (%u, %u), }", rows, width);
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(out + 10, dict, (size_t)n);
    out[127] = '\n';
    for (size_t i = 0; i < (size_t)rows * width; i++) {
        z = z * 1664525 + 1013904223;
        float v = (float)(int32_t)z * 0x1p-31f;
        memcpy(out + 128 + 4 * i, &v, 4);
    }
    return 128 + 4 * (size_t)rows * width;
}

void kit_put(struct kit_daemon *d, const char *target, const char *head, const void *body,
             size_t size, struct kit_answer *a)
{
    struct kit_link l;
    char *text;
    int n = asprintf(&text, "PUT %s HTTP/1.1\r\nHost: test\r\nContent-Length: %zu\r\n%s\r\n",
                     target, size, head ? head : "");
    assert_true(n > 0);
    kit_open(&l, d->port);
    kit_send(&l, text, (size_t)n);
    if (size)
        kit_send(&l, body, size);
    free(text);
    if (!kit_read(&l, "PUT", 30000, a))
        fail_msg("no answer to PUT %s", target);
    kit_close(&l);
}

void kit_once(struct kit_daemon *d, const char *method, const char *target, const char *head,
              struct kit_answer *a)
{
    struct kit_link l;
    kit_open(&l, d->port);
    kit_ask(&l, method, target, head, a);
    kit_close(&l);
}
