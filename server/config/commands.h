/* SPDX-License-Identifier: MIT
 *
 * commands.h: the subcommands beside serve, and their texts. Each takes the arguments after its
 * name and returns the exit code of the program.
 */
#ifndef SERVER_COMMANDS_H
#define SERVER_COMMANDS_H

#include <stdio.h>

int command_get(int argc, char **argv);
int command_healthcheck(int argc, char **argv);
int command_version(int argc, char **argv);

/* Help of the program, of serve, and the man page (roff). */
void usage_program(FILE *);
void usage_serve(FILE *);
void usage_man(FILE *);

/* Names of the commands, ended by NULL. */
extern const char *const usage_commands[];

#endif
