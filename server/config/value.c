/* SPDX-License-Identifier: MIT
 *
 * value.c: texts of options to numbers, words and addresses. Strict: digits and a unit, nothing
 * else, no locale. A refusal always says what would have been right.
 */
#include "value.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t times;
};

static const struct unit plain[] = {{"", 1}, {NULL, 0}};
static const struct unit sizes[] = {
    {"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};
static const struct unit durations[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {NULL, 0}};

static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const formats[] = {"text", "json", "auto", NULL};

const char *const *value_words(enum value_type type)
{
    return type == VALUE_WORD_LEVEL ? levels : type == VALUE_WORD_FORMAT ? formats : NULL;
}

static const struct unit *units_of(enum value_type type)
{
    return type == VALUE_SIZE ? sizes : type == VALUE_DURATION ? durations : plain;
}

/* The largest unit that leaves a whole number. */
static void print_amount(enum value_type type, uint64_t amount, char *out, size_t size)
{
    const struct unit *units = units_of(type), *best = units;
    for (const struct unit *u = units; u->name; u++)
        if (amount && amount % u->times == 0)
            best = u;
    snprintf(out, size, "%" PRIu64 "%s", amount / best->times, best->name);
}

static const char *examples(enum value_type type)
{
    return type == VALUE_SIZE       ? "a size: digits with KiB, MiB or GiB, such as 64MiB"
           : type == VALUE_DURATION ? "a time: digits with ms, s or m, such as 30s"
                                    : "a number in decimal digits, such as 16";
}

static bool read_amount(enum value_type type, const char *text, uint64_t *out, bool *huge)
{
    uint64_t n = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++)
        *huge |= __builtin_mul_overflow(n, UINT64_C(10), &n) ||
                 __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n);
    if (p == text)
        return false;
    for (const struct unit *u = units_of(type); u->name; u++)
        if (!strcmp(p, u->name)) {
            *huge |= __builtin_mul_overflow(n, u->times, out);
            return true;
        }
    return false;
}

static bool read_word(enum value_type type, const char *text, uint64_t *out, char wrong[160])
{
    const char *const *words = value_words(type);
    size_t used = (size_t)snprintf(wrong, 160, "one of");
    for (size_t i = 0; words[i]; i++) {
        if (!strcmp(text, words[i])) {
            *out = i;
            return true;
        }
        used += (size_t)snprintf(wrong + used, 160 - used, "%s %s", i ? "," : "", words[i]);
    }
    return false;
}

bool value_number(enum value_type type, const char *text, int64_t lo, int64_t hi, uint64_t *out,
                  char wrong[160])
{
    *out = 0;
    if (type == VALUE_PATH)
        return true;
    if (value_words(type))
        return read_word(type, text, out, wrong);
    bool huge = false;
    char bound[32];
    if (!read_amount(type, text, out, &huge)) {
        snprintf(wrong, 160, "%s", examples(type));
        return false;
    }
    if (huge || *out > (uint64_t)hi) {
        print_amount(type, (uint64_t)hi, bound, sizeof bound);
        snprintf(wrong, 160, "at most %s", bound);
        return false;
    }
    if (*out < (uint64_t)lo) {
        print_amount(type, (uint64_t)lo, bound, sizeof bound);
        snprintf(wrong, 160, "at least %s", bound);
        return false;
    }
    return true;
}

static bool read_local(const char *path, struct value_address *out, char wrong[160])
{
    struct sockaddr_un *a = &out->at.local;
    size_t len = strlen(path);
    if (!len || len >= sizeof a->sun_path) {
        snprintf(wrong, 160, "unix:PATH with a path of 1 to %zu bytes", sizeof a->sun_path - 1);
        return false;
    }
    a->sun_family = AF_UNIX;
    memcpy(a->sun_path, path, len + 1);
    out->size = sizeof *a;
    return true;
}

bool value_address(const char *text, struct value_address *out, char wrong[160])
{
    memset(out, 0, sizeof *out);
    if (!strncmp(text, "unix:", 5))
        return read_local(text + 5, out, wrong);
    char host[64] = "";
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    bool six = len > 2 && text[0] == '[' && text[len - 1] == ']';
    if (colon && len < sizeof host)
        snprintf(host, sizeof host, "%.*s", (int)(six ? len - 2 : len), text + six);
    if (!strcmp(host, "localhost"))
        snprintf(host, sizeof host, "127.0.0.1");
    uint64_t port = 0;
    if (!colon || !*host || !value_number(VALUE_COUNT, colon + 1, 0, 65535, &port, wrong)) {
        snprintf(
            wrong, 160,
            "ADDR:PORT with a port of 0 to 65535, such as 127.0.0.1:8080, [::]:8080, or unix:PATH");
        return false;
    }
    if (!six && inet_pton(AF_INET, host, &out->at.v4.sin_addr) == 1) {
        out->at.v4.sin_family = AF_INET;
        out->at.v4.sin_port = htons((uint16_t)port);
        out->size = sizeof out->at.v4;
        return true;
    }
    if (six && inet_pton(AF_INET6, host, &out->at.v6.sin6_addr) == 1) {
        out->at.v6.sin6_family = AF_INET6;
        out->at.v6.sin6_port = htons((uint16_t)port);
        out->size = sizeof out->at.v6;
        return true;
    }
    snprintf(wrong, 160, "a numeric address: 127.0.0.1:%u, 0.0.0.0:%u, [::]:%u, or unix:PATH",
             (unsigned)port, (unsigned)port, (unsigned)port);
    return false;
}

void value_url(const struct value_address *a, char *out, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    if (a->at.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &a->at.v4.sin_addr, host, sizeof host);
        snprintf(out, size, "http://%s:%u", host, ntohs(a->at.v4.sin_port));
    } else if (a->at.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &a->at.v6.sin6_addr, host, sizeof host);
        snprintf(out, size, "http://[%s]:%u", host, ntohs(a->at.v6.sin6_port));
    } else {
        snprintf(out, size, "unix:%s", a->at.local.sun_path);
    }
}

/* Optimal string alignment: letters wrong, missing, extra, or two neighbours swapped. */
static size_t slips(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t row[3][48];
    if (n >= 48 || m >= 48)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *last = row[(i - 1) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *value_nearest(const char *text, const char *const *names)
{
    const char *best = NULL;
    size_t least = 1 + strlen(text) / 3;
    for (; *names; names++) {
        size_t s = slips(text, *names);
        if (s < least || (s == least && !best)) {
            least = s;
            best = *names;
        }
    }
    return best;
}
