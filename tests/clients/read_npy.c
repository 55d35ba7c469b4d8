/* SPDX-License-Identifier: MIT
 *
 * read_npy.c: fetches a two-dimensional f32 table as .npy and prints it, with nothing but the C
 * library. The example of the README, which shows the same lines. It leaves out hosts that are not
 * little-endian.
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) /* HOST PORT TARGET */
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *at;
    char line[8192], head[129] = "";
    size_t rows, width;
    if (argc != 4 || getaddrinfo(argv[1], argv[2], &hints, &at))
        return fputs("usage: read_npy HOST PORT TARGET\n", stderr), 2;
    int s = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
    FILE *f = s < 0 || connect(s, at->ai_addr, at->ai_addrlen) ? NULL : fdopen(s, "r");
    freeaddrinfo(at);
    if (!f)
        return perror(argv[1]), 1;
    dprintf(s, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[3], argv[1]);
    if (!fgets(line, sizeof line, f) || strncmp(line, "HTTP/1.1 200", 12))
        return fprintf(stderr, "not served: %s", line), 1;
    while (fgets(line, sizeof line, f) && strcmp(line, "\r\n"))
        ;
    /* An .npy file has 128 bytes of text, then the numbers: rows, little-endian. */
    if (fread(head, 1, 128, f) != 128 ||
        sscanf(head + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu)", &rows,
               &width) != 2)
        return fputs("not a two-dimensional f32 table\n", stderr), 1;
    float *table = calloc(rows * width, sizeof *table);
    if (!table || fread(table, sizeof *table, rows * width, f) != rows * width)
        return fputs("cut short\n", stderr), 1;
    for (size_t i = 0; i < rows * width; i++)
        printf("%.9g%c", (double)table[i], (i + 1) % width ? ' ' : '\n');
    free(table);
    return fclose(f);
}
