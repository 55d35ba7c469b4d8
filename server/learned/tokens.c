/* SPDX-License-Identifier: MIT
 *
 * tokens.c: see tokens.h. The time of a check depends on the length of the token that came and on
 * the number of those known, not on how far two of them agree.
 */
#include "tokens.h"
#include "must.h"

#include <errno.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A file of tokens is small; what is larger is another file. */
#define FILE_LIMIT (1 << 20)

#define NAME_LIMIT 64

struct token {
    char name[NAME_LIMIT + 1];
    unsigned char sum[SHA256_DIGEST_SIZE];
    unsigned scopes; /* bits of api_scope */
};

struct tokens {
    size_t count;
    struct token at[];
};

/* ---------------------------------------------------------------- reading */

static bool read_name(char *field, struct token *t)
{
    size_t n = strlen(field);
    if (!n || n > NAME_LIMIT)
        return false;
    for (size_t i = 0; i < n; i++)
        if (field[i] <= ' ' || field[i] == 0x7f)
            return false;
    memcpy(t->name, field, n + 1);
    return true;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool read_sum(const char *field, struct token *t)
{
    if (strlen(field) != 2 * sizeof t->sum)
        return false;
    for (size_t i = 0; i < sizeof t->sum; i++) {
        int high = digit(field[2 * i]), low = digit(field[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        t->sum[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool read_scopes(char *field, struct token *t)
{
    static const struct {
        const char *name;
        enum api_scope scope;
    } scopes[] = {{"read", API_SCOPE_READ}, {"write", API_SCOPE_WRITE}, {"admin", API_SCOPE_ADMIN}};
    for (char *word; (word = strsep(&field, ","));) {
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
            if (!strcmp(word, scopes[i].name))
                bit = 1u << scopes[i].scope;
        if (!bit || t->scopes & bit)
            return false;
        t->scopes |= bit;
    }
    return true;
}

/* NULL, or what is wrong with the line. */
static const char *read_line(char *line, struct token *t)
{
    char *name = strsep(&line, ":"), *sum = strsep(&line, ":"), *scopes = strsep(&line, ":");
    *t = (struct token){.scopes = 0};
    if (!scopes || line)
        return "it is not name:sha256hex:scopes";
    if (!read_name(name, t))
        return "the name is missing, too long, or has a blank";
    if (!read_sum(sum, t))
        return "the second field is not the 64 hexadecimal digits of a SHA-256";
    return read_scopes(scopes, t)
               ? NULL
               : "the scopes are not read, write, admin, or several with commas, each once";
}

static const char *add_line(struct tokens *tokens, char *line)
{
    struct token *t = &tokens->at[tokens->count];
    const char *fault = read_line(line, t);
    for (size_t i = 0; !fault && i < tokens->count; i++)
        if (!strcmp(tokens->at[i].name, t->name))
            fault = "the name stands in a line before";
    tokens->count += !fault;
    return fault;
}

static bool read_text(char *text, size_t length, struct tokens **out, char *error, size_t size)
{
    size_t lines = 1, number = 1;
    if (memchr(text, 0, length)) {
        snprintf(error, size, "it has a NUL");
        return false;
    }
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    struct tokens *tokens = calloc(1, sizeof *tokens + lines * sizeof *tokens->at);
    const char *fault = tokens ? NULL : "there is no memory";
    for (char *line; !fault && (line = strsep(&text, "\n")); number += !fault) {
        size_t n = strlen(line);
        if (n && line[n - 1] == '\r')
            line[n - 1] = 0;
        if (*line && *line != '#')
            fault = add_line(tokens, line);
    }
    if (fault) {
        snprintf(error, size, "line %zu: %s", number, fault);
        free(tokens);
        return false;
    }
    *out = tokens;
    return true;
}

bool tokens_read(const char *path, struct tokens **out, char *error, size_t size)
{
    FILE *f = fopen(path, "re");
    char *text = f ? malloc(FILE_LIMIT + 1) : NULL;
    size_t n = text ? fread(text, 1, FILE_LIMIT + 1, f) : 0;
    bool good = text && !ferror(f) && n <= FILE_LIMIT;
    if (!good)
        snprintf(error, size, "it cannot be read: %s",
                 text && n > FILE_LIMIT ? "it is larger than 1MiB" : strerror(errno));
    if (f)
        fclose(f);
    if (good) {
        text[n] = 0;
        good = read_text(text, n, out, error, size);
    }
    free(text);
    return good;
}

void tokens_close(struct tokens **address)
{
    free(*address);
    *address = NULL;
}

/* ---------------------------------------------------------------- checking */

/* The token of the one Authorization header. RFC 6750, 2.1: b64token; RFC 9110, 11.1: the scheme
 * without case. */
static bool bearer(const struct api_request *r, struct api_bytes *token)
{
    static const char scheme[] = "Bearer ";
    const size_t n = sizeof scheme - 1;
    const struct api_header *found = NULL;
    for (size_t i = 0; i < r->header_count; i++) {
        if (strcasecmp(r->headers[i].name, "Authorization"))
            continue;
        if (found)
            return false;
        found = &r->headers[i];
    }
    if (!found || found->value.len <= n || strncasecmp(found->value.at, scheme, n))
        return false;
    *token = (struct api_bytes){found->value.at + n, found->value.len - n};
    while (token->len && token->at[0] == ' ')
        token->at++, token->len--;
    while (token->len && (token->at[token->len - 1] == ' ' || token->at[token->len - 1] == '\t'))
        token->len--;
    for (size_t i = 0; i < token->len; i++)
        if (token->at[i] <= ' ' || token->at[i] == 0x7f)
            return false;
    return token->len > 0;
}

enum tokens_verdict tokens_check(const struct tokens *tokens, const struct api_request *r,
                                 enum api_scope scope)
{
    struct sha256_ctx context;
    unsigned char sum[SHA256_DIGEST_SIZE];
    struct api_bytes token;
    unsigned known = 0, scopes = 0;
    if (!bearer(r, &token))
        return TOKENS_NONE;
    sha256_init(&context);
    sha256_update(&context, token.len, (const uint8_t *)token.at);
    sha256_digest(&context, sizeof sum, sum);
    for (size_t i = 0; tokens && i < tokens->count; i++) {
        unsigned same = 0u - (unsigned)memeql_sec(sum, tokens->at[i].sum, sizeof sum);
        known |= same;
        scopes |= same & tokens->at[i].scopes;
    }
    return scopes >> scope & 1 ? TOKENS_GRANTED : known ? TOKENS_LACKING : TOKENS_UNKNOWN;
}

/* ---------------------------------------------------------------- while they are used */

struct tokens_box {
    pthread_rwlock_t lock;
    struct tokens *tokens;
};

struct tokens_box *tokens_box_open(struct tokens **tokens)
{
    struct tokens_box *box = calloc(1, sizeof *box);
    if (!box)
        return NULL;
    must(pthread_rwlock_init(&box->lock, NULL) == 0);
    box->tokens = *tokens;
    *tokens = NULL;
    return box;
}

void tokens_box_close(struct tokens_box **address)
{
    struct tokens_box *box = *address;
    *address = NULL;
    if (!box)
        return;
    tokens_close(&box->tokens);
    pthread_rwlock_destroy(&box->lock);
    free(box);
}

void tokens_box_put(struct tokens_box *box, struct tokens **tokens)
{
    pthread_rwlock_wrlock(&box->lock);
    struct tokens *old = box->tokens;
    box->tokens = *tokens;
    pthread_rwlock_unlock(&box->lock);
    *tokens = NULL;
    tokens_close(&old);
}

enum tokens_verdict tokens_box_check(struct tokens_box *box, const struct api_request *r,
                                     enum api_scope scope)
{
    pthread_rwlock_rdlock(&box->lock);
    enum tokens_verdict verdict = tokens_check(box->tokens, r, scope);
    pthread_rwlock_unlock(&box->lock);
    return verdict;
}
