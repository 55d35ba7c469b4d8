/* SPDX-License-Identifier: MIT
 *
 * log.c: one line an event. Whatever stands in a request is escaped, so that a line stays a line
 * and JSON stays JSON; long texts are cut, so that a line stays below 32 KiB. Writes are whole
 * lines under one lock.
 */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of a text as it came; escapes make six bytes of one at worst. */
#define LOG_TEXT_LIMIT 4096
/* A line: the target at its worst, and 2 KiB for everything else (ids are at most 128 bytes). */
#define LOG_LINE_LIMIT (6 * LOG_TEXT_LIMIT + 2048)
/* The buffer of a thread is written when it holds this much, or when its loop goes to sleep. */
#define LOG_BUFFER_SIZE (128 << 10)

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static atomic_int the_level = LOG_INFO;
static bool as_json;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

void log_open(bool json, enum log_level level)
{
    as_json = json;
    atomic_store(&the_level, level);
}

void log_set_level(enum log_level level)
{
    atomic_store(&the_level, level);
}

bool log_wants(enum log_level level)
{
    return (int)level <= atomic_load_explicit(&the_level, memory_order_relaxed);
}

static void write_all(const char *at, size_t n)
{
    pthread_mutex_lock(&writing);
    while (n) {
        ssize_t w = write(STDERR_FILENO, at, n);
        if (w <= 0)
            break;
        at += w;
        n -= (size_t)w;
    }
    pthread_mutex_unlock(&writing);
}

static inline char *put(char *p, const char *text, size_t n)
{
    memcpy(p, text, n);
    return p + n;
}

static char *put_text(char *p, const char *text)
{
    return put(p, text, strlen(text));
}

static char *put_number(char *p, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    return put(p, digits + i, sizeof digits - i);
}

/* Bytes that stand for themselves in both forms. */
static const bool plain[256] = {[0x21] = true, [0x23 ... 0x5b] = true, [0x5d ... 0x7e] = true};

static char *put_escape(char *p, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        *p++ = '\\';
        *p++ = (char)c;
        return p;
    }
    if (c == ' ' && as_json) {
        *p++ = ' ';
        return p;
    }
    p = as_json ? put(p, "\\u00", 4) : put(p, "\\x", 2);
    *p++ = hex[c >> 4];
    *p++ = hex[c & 15];
    return p;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define HAS_ZERO(x) (((x)-EACH(1)) & ~(x)&EACH(0x80))

/* Whether all of eight bytes are plain: none below 0x21 or above 0x7e, no quote, no backslash. */
static bool plain_word(const char *at)
{
    uint64_t w;
    memcpy(&w, at, sizeof w);
    uint64_t high = w | (w + EACH(1)); /* 0x7f carries into the top bit */
    uint64_t low = (w - EACH(0x21)) & ~w;
    return !((high | low) & EACH(0x80)) && !HAS_ZERO(w ^ EACH('"')) && !HAS_ZERO(w ^ EACH('\\'));
}

static char *put_escaped(char *p, const char *text, size_t n)
{
    if (n > LOG_TEXT_LIMIT)
        n = LOG_TEXT_LIMIT;
    for (const char *end = text + n; text < end;) {
        const char *run = text;
        while (end - text >= 8 && plain_word(text))
            text += 8;
        while (text < end && plain[(unsigned char)*text])
            text++;
        p = put(p, run, (size_t)(text - run));
        if (text < end)
            p = put_escape(p, (unsigned char)*text++);
    }
    return p;
}

/* Literals are copied with their length known, which is most of what makes a line cheap. */
#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)
#define PUT_NAME(p, name) (as_json ? PUT(p, ",\"" name "\":") : PUT(p, " " name "="))

static char *put_value(char *p, const char *text, size_t n)
{
    if (!as_json)
        return put_escaped(p, text, n);
    *p++ = '"';
    p = put_escaped(p, text, n);
    *p++ = '"';
    return p;
}

static char *put_member(char *p, const char *name, const char *text, size_t n)
{
    p = as_json ? PUT(p, ",\"") : PUT(p, " ");
    p = put_text(p, name);
    p = as_json ? PUT(p, "\":") : PUT(p, "=");
    return put_value(p, text, n);
}

static char *end_line(char *p)
{
    return as_json ? PUT(p, "}\n") : PUT(p, "\n");
}

/* RFC 3339, in UTC. */
static void print_second(int64_t second, char out[24])
{
    struct tm tm;
    time_t t = (time_t)second;
    gmtime_r(&t, &tm);
    strftime(out, 24, "%Y-%m-%dT%H:%M:%S", &tm);
}

static char *put_time(char *p, const char *clock, long nanoseconds)
{
    unsigned ms = (unsigned)(nanoseconds / 1000000);
    p = put(p, clock, 19);
    *p++ = '.';
    *p++ = (char)('0' + ms / 100);
    *p++ = (char)('0' + ms / 10 % 10);
    *p++ = (char)('0' + ms % 10);
    *p++ = 'Z';
    return p;
}

static char *put_start(char *p, const char *clock, long nanoseconds, enum log_level level,
                       const char *msg)
{
    if (as_json)
        p = PUT(p, "{\"time\":\"");
    p = put_time(p, clock, nanoseconds);
    p = as_json ? PUT(p, "\",\"level\":\"") : PUT(p, " ");
    p = put_text(p, level_names[level]);
    if (!as_json)
        return put_text(PUT(p, " "), msg);
    return put_value(PUT(p, "\",\"msg\":"), msg, strlen(msg));
}

static char *start_now(char *p, enum log_level level, const char *msg)
{
    char clock[24];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    print_second(now.tv_sec, clock);
    return put_start(p, clock, now.tv_nsec, level, msg);
}

void log_say(enum log_level level, const char *msg, ...)
{
    if (!log_wants(level))
        return;
    char line[LOG_LINE_LIMIT], *p = start_now(line, level, msg);
    va_list more;
    va_start(more, msg);
    for (const char *name; (name = va_arg(more, const char *));) {
        const char *text = va_arg(more, const char *);
        size_t room = sizeof line - (size_t)(p - line), n = strlen(text);
        if (room < 128 + strlen(name))
            break;
        p = put_member(p, name, text, n < (room - 128) / 6 ? n : (room - 128) / 6);
    }
    va_end(more);
    p = end_line(p);
    write_all(line, (size_t)(p - line));
}

void log_ready(const char *const *urls, size_t count)
{
    char line[LOG_LINE_LIMIT], *p = line;
    if (as_json) {
        p = start_now(p, LOG_INFO, "ready");
        p = put_text(p, ",\"listen\":[");
    } else {
        p = put_text(p, "ready");
    }
    for (size_t i = 0; i < count && (size_t)(p - line) < sizeof line - 1024; i++) {
        p = put_text(p, !as_json ? " " : i ? ",\"" : "\"");
        p = put_escaped(p, urls[i], strnlen(urls[i], 128));
        p = put_text(p, as_json ? "\"" : "");
    }
    p = put_text(p, as_json ? "]}\n" : "\n");
    write_all(line, (size_t)(p - line));
}

static char *put_request(char *p, const struct log_request *r)
{
    p = put_value(PUT_NAME(p, "request_id"), r->request_id, strlen(r->request_id));
    p = put_value(PUT_NAME(p, "method"), r->method, strnlen(r->method, 32));
    p = put_value(PUT_NAME(p, "path"), r->target.at, r->target.len);
    p = put_number(PUT_NAME(p, "status"), (uint64_t)r->status);
    p = put_number(PUT_NAME(p, "bytes"), r->bytes);
    p = put_number(PUT_NAME(p, "duration_us"), r->duration_us);
    if (*r->client)
        p = put_value(PUT_NAME(p, "client"), r->client, strnlen(r->client, 128));
    if (r->trace_id.len)
        p = put_value(PUT_NAME(p, "trace_id"), r->trace_id.at,
                      r->trace_id.len < 64 ? r->trace_id.len : 64);
    if (r->cut)
        p = PUT(PUT_NAME(p, "cut"), "true");
    return end_line(p);
}

void log_add(struct log_buffer *b, const struct log_request *r)
{
    if (!log_wants(LOG_INFO))
        return;
    if (!b->at) {
        b->at = malloc(LOG_BUFFER_SIZE);
        if (!b->at)
            return;
        b->capacity = LOG_BUFFER_SIZE;
        b->second = -1;
    }
    if (b->capacity - b->length < LOG_LINE_LIMIT)
        log_flush(b);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* to 4 ms, at a quarter of the cost */
    if (now.tv_sec != b->second)
        print_second(b->second = now.tv_sec, b->clock);
    char *p = put_start(b->at + b->length, b->clock, now.tv_nsec, LOG_INFO, "request");
    p = put_request(p, r);
    b->length = (size_t)(p - b->at);
}

void log_flush(struct log_buffer *b)
{
    if (b->length)
        write_all(b->at, b->length);
    b->length = 0;
}

void log_buffer_free(struct log_buffer *b)
{
    log_flush(b);
    free(b->at);
    memset(b, 0, sizeof *b);
}
