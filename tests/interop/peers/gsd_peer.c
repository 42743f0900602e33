/* The C library of gsd as a contender: does what stdin says, one line each, and answers with the seconds that it took.

   A line is a command and its arguments, separated by tabs; the answer is "ok", the seconds and a check (or "-"), or "error"
   and what went wrong. The clock runs around the operation alone. Linked with gsd.c of the released source. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gsd.h"

#define POOL_EXTRA 64
#define NAMES 10

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* The values of all contenders: whole numbers of two bits, so that sums are exact. */
static float* pool(size_t count)
{
    float* values = malloc(count * sizeof(float));
    for (size_t at = 0; values && at < count; at++)
        values[at] = (float)((at * UINT64_C(0x9e3779b97f4a7c15) >> 40) & 3);
    return values;
}

static uint64_t scattered(uint64_t at, uint64_t count)
{
    return (at * UINT64_C(0x9e3779b97f4a7c15) >> 32) % count;
}

/* The at-th thing in an order. No division where none is needed: it would take as long as half a search. */
static uint64_t visited(int random, uint64_t at, uint64_t count)
{
    return random ? scattered(at, count) : at < count ? at : at % count;
}

static float sum(const float* values, size_t count)
{
    float lanes[16] = {0};
    float total = 0;
    size_t at = 0;
    for (; at + 16 <= count; at += 16)
        for (int lane = 0; lane < 16; lane++)
            lanes[lane] += values[at + lane];
    for (; at < count; at++)
        total += values[at];
    for (int lane = 0; lane < 16; lane++)
        total += lanes[lane];
    return total;
}

/* write PATH FRAMES PARTICLES FLUSH */
static int write_file(char** words, double* seconds)
{
    uint64_t frames = strtoull(words[2], NULL, 10);
    size_t particles = strtoull(words[3], NULL, 10);
    int flush = strcmp(words[4], "1") == 0;
    float* values = pool(3 * particles + POOL_EXTRA);
    struct gsd_handle handle;
    double start = now();
    int error = gsd_create_and_open(&handle, words[1], "bench", "hoomd", gsd_make_version(1, 4),
                                    GSD_OPEN_READWRITE, 1);
    if (error)
        return error;
    for (uint64_t frame = 0; frame < frames && !error; frame++) {
        error = gsd_write_chunk(&handle, "configuration/step", GSD_TYPE_UINT64, 1, 1, 0, &frame);
        if (!error)
            error = gsd_write_chunk(&handle, "particles/position", GSD_TYPE_FLOAT, particles, 3, 0,
                                    values + frame % 16);
        if (!error)
            error = gsd_end_frame(&handle);
        if (!error && flush)
            error = gsd_flush(&handle);
    }
    int closed = gsd_close(&handle);
    *seconds = now() - start;
    free(values);
    return error ? error : closed;
}

/* read PATH COUNT random|sequential sum|copy */
static int read_frames(char** words, double* seconds, uint64_t* check)
{
    uint64_t count = strtoull(words[2], NULL, 10);
    int random = strcmp(words[3], "random") == 0;
    int with_sum = strcmp(words[4], "sum") == 0;
    struct gsd_handle handle;
    int error = gsd_open(&handle, words[1], GSD_OPEN_READONLY);
    if (error)
        return error;
    uint64_t frames = gsd_get_nframes(&handle);
    const struct gsd_index_entry* first = gsd_find_chunk(&handle, 0, "particles/position");
    size_t elements = 3 * first->N;
    float* values = malloc(elements * sizeof(float));
    memset(values, 1, elements * sizeof(float));
    double total = 0;
    double start = now();
    for (uint64_t at = 0; at < count && !error; at++) {
        uint64_t frame = visited(random, at, frames);
        const struct gsd_index_entry* entry = gsd_find_chunk(&handle, frame, "particles/position");
        if (!entry)
            return GSD_ERROR_FILE_CORRUPT;
        error = gsd_read_chunk(&handle, values, entry);
        total += with_sum ? sum(values, elements) : values[frame % elements];
    }
    *seconds = now() - start;
    *check = (uint64_t)total;
    free(values);
    gsd_close(&handle);
    return error;
}

/* find PATH COUNT random|sequential, of names log/0 to log/9 in every frame */
static int find_chunks(char** words, double* seconds, uint64_t* check)
{
    uint64_t count = strtoull(words[2], NULL, 10);
    int random = strcmp(words[3], "random") == 0;
    char names[NAMES][8];
    for (int at = 0; at < NAMES; at++)
        snprintf(names[at], sizeof names[at], "log/%d", at);
    struct gsd_handle handle;
    int error = gsd_open(&handle, words[1], GSD_OPEN_READONLY);
    if (error)
        return error;
    uint64_t frames = gsd_get_nframes(&handle);
    uint64_t total = 0;
    double start = now();
    for (uint64_t at = 0; at < count; at++) {
        uint64_t which = visited(random, at, frames * NAMES);
        const struct gsd_index_entry* entry = gsd_find_chunk(&handle, which / NAMES, names[which % NAMES]);
        if (!entry)
            return GSD_ERROR_FILE_CORRUPT;
        total += (uint64_t)entry->location;
    }
    *seconds = now() - start;
    *check = total;
    gsd_close(&handle);
    return 0;
}

/* open PATH TIMES */
static int open_file(char** words, double* seconds, uint64_t* check)
{
    int times = atoi(words[2]);
    double start = now();
    for (int at = 0; at < times; at++) {
        struct gsd_handle handle;
        int error = gsd_open(&handle, words[1], GSD_OPEN_READONLY);
        if (error)
            return error;
        *check = gsd_get_nframes(&handle);
        gsd_close(&handle);
    }
    *seconds = (now() - start) / times;
    return 0;
}

int main(void)
{
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        char* words[8];
        int count = 0;
        line[strcspn(line, "\n")] = 0;
        for (char* word = strtok(line, "\t"); word && count < 8; word = strtok(NULL, "\t"))
            words[count++] = word;
        double seconds = 0;
        uint64_t check = 0;
        int checked = 1;
        int error = 1;
        if (count == 1 && strcmp(words[0], "version") == 0) {
            printf("ok\tgcc " __VERSION__ " -O3\n");
            fflush(stdout);
            continue;
        }
        if (count == 5 && strcmp(words[0], "write") == 0) {
            error = write_file(words, &seconds);
            checked = 0;
        } else if (count == 5 && strcmp(words[0], "read") == 0)
            error = read_frames(words, &seconds, &check);
        else if (count == 4 && strcmp(words[0], "find") == 0)
            error = find_chunks(words, &seconds, &check);
        else if (count == 3 && strcmp(words[0], "open") == 0)
            error = open_file(words, &seconds, &check);
        if (error)
            printf("error\tcode %d\n", error);
        else if (checked)
            printf("ok\t%.9f\t%llu\n", seconds, (unsigned long long)check);
        else
            printf("ok\t%.9f\t-\n", seconds);
        fflush(stdout);
    }
    return 0;
}
