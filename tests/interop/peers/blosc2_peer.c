/* C-Blosc2 as a contender: does what stdin says, one line each, and answers with the seconds that it took.

   A line is a command and its arguments, separated by tabs; the answer is "ok", the seconds and a check (or "-"), or "error" and
   what went wrong. The clock runs around the operation alone: CPU time of the thread for one thread, wall time for more. Linked
   with the library that python-blosc2 brings along. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "b2nd.h"
#include "blosc2.h"

#define AXES 3
#define CHECKED 4

static double now(int threads)
{
    struct timespec at;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* The sum of all whole words. */
static uint64_t check_of(const uint8_t* bytes, size_t len)
{
    uint64_t sum = 0;
    for (size_t at = 0; at + 4 <= len; at += 4) {
        uint32_t word;
        memcpy(&word, bytes + at, 4);
        sum += word;
    }
    return sum;
}

/* Memory that has been used before, of at least `size` bytes. */
static uint8_t* room(size_t size)
{
    static uint8_t* memory;
    static size_t held;
    if (size > held) {
        free(memory);
        memory = malloc(size);
        memset(memory, 1, size);
        held = size;
    }
    return memory;
}

/* A file's bytes, read once. */
static uint8_t* contents(const char* path, size_t* size)
{
    static uint8_t* bytes;
    static size_t len;
    static char name[4096];
    if (strcmp(path, name) != 0) {
        FILE* file = fopen(path, "rb");
        if (!file)
            return NULL;
        fseek(file, 0, SEEK_END);
        len = (size_t)ftell(file);
        rewind(file);
        free(bytes);
        bytes = malloc(len);
        len = fread(bytes, 1, len, file);
        fclose(file);
        snprintf(name, sizeof name, "%s", path);
    }
    *size = len;
    return bytes;
}

static blosc2_stdio_mmap map;

/* Opens a frame in a file, in a map of it, or in memory. */
static blosc2_schunk* opened(const char* path, const char* access, int threads)
{
    blosc2_schunk* schunk;
    if (strcmp(access, "mapped") == 0) {
        map = BLOSC2_STDIO_MMAP_DEFAULTS;
        map.mode = "r";
        blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .name = "filesystem_mmap", .params = &map};
        schunk = blosc2_schunk_open_udio(path, &io);
    } else if (strcmp(access, "memory") == 0) {
        size_t size;
        uint8_t* bytes = contents(path, &size);
        schunk = bytes ? blosc2_schunk_from_buffer(bytes, (int64_t)size, false) : NULL;
        if (schunk)
            blosc2_schunk_avoid_cframe_free(schunk, true);
    } else {
        schunk = blosc2_schunk_open(path);
    }
    if (schunk && threads > 0) {
        blosc2_dparams params = BLOSC2_DPARAMS_DEFAULTS;
        params.nthreads = (int16_t)threads;
        params.schunk = schunk;
        blosc2_free_ctx(schunk->dctx);
        schunk->dctx = blosc2_create_dctx(params);
    }
    return schunk;
}

static blosc2_cparams cparams_of(const char* codec, const char* level, int threads, int32_t typesize)
{
    blosc2_cparams params = BLOSC2_CPARAMS_DEFAULTS;
    params.compcode = (uint8_t)blosc2_compname_to_compcode(codec);
    params.clevel = (uint8_t)atoi(level);
    params.nthreads = (int16_t)threads;
    params.typesize = typesize;
    return params;
}

/* open PATH TIMES frame|array file|mapped */
static int open_file(char** words, double* seconds)
{
    int times = atoi(words[2]);
    int is_array = strcmp(words[3], "array") == 0;
    double start = now(1);
    for (int at = 0; at < times; at++) {
        blosc2_schunk* schunk = opened(words[1], words[4], 0);
        if (!schunk)
            return 1;
        if (is_array) {
            b2nd_array_t* array;
            int error = b2nd_from_schunk(schunk, &array);
            if (error)
                return error;
            b2nd_free(array);
        } else {
            blosc2_schunk_free(schunk);
        }
    }
    *seconds = (now(1) - start) / times;
    return 0;
}

/* write RAW TARGET CODEC LEVEL THREADS CHUNK: a frame of f64 */
static int write_frame(char** words, double* seconds)
{
    int threads = atoi(words[5]);
    int32_t chunk = atoi(words[6]);
    size_t size;
    const uint8_t* bytes = contents(words[1], &size);
    if (!bytes)
        return 1;
    blosc2_cparams cparams = cparams_of(words[3], words[4], threads, 8);
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_storage storage = {.contiguous = true, .urlpath = words[2], .cparams = &cparams, .dparams = &dparams};
    double start = now(threads);
    blosc2_schunk* schunk = blosc2_schunk_new(&storage);
    if (!schunk)
        return 2;
    for (size_t at = 0; at < size; at += (size_t)chunk) {
        size_t len = size - at < (size_t)chunk ? size - at : (size_t)chunk;
        int64_t count = blosc2_schunk_append_buffer(schunk, bytes + at, (int32_t)len);
        if (count < 0)
            return (int)count;
    }
    blosc2_schunk_free(schunk);
    *seconds = now(threads) - start;
    return 0;
}

/* read PATH THREADS file|mapped|memory: all chunks, one after the other, into memory in use */
static int read_frame(char** words, double* seconds, uint64_t* check)
{
    int threads = atoi(words[2]);
    blosc2_schunk* schunk = opened(words[1], words[3], threads);
    if (!schunk)
        return 1;
    size_t size = (size_t)schunk->nbytes;
    blosc2_schunk_free(schunk);
    uint8_t* out = room(size);
    double start = now(threads);
    schunk = opened(words[1], words[3], threads);
    size_t at = 0;
    for (int64_t chunk = 0; chunk < schunk->nchunks; chunk++) {
        int32_t left = size - at > INT32_MAX ? INT32_MAX : (int32_t)(size - at);
        int made = blosc2_schunk_decompress_chunk(schunk, chunk, out + at, left);
        if (made < 0)
            return made;
        at += (size_t)made;
    }
    blosc2_schunk_free(schunk);
    *seconds = now(threads) - start;
    *check = check_of(out, at);
    return 0;
}

static int axes(char* text, int64_t* to)
{
    for (int axis = 0; axis < AXES; axis++) {
        to[axis] = strtoll(text, &text, 10);
        if (*text)
            text++;
    }
    return 0;
}

/* array RAW TARGET CODEC LEVEL THREADS SHAPE CHUNKS BLOCKS: an array of f32 */
static int write_array(char** words, double* seconds)
{
    int threads = atoi(words[5]);
    size_t size;
    const uint8_t* bytes = contents(words[1], &size);
    if (!bytes)
        return 1;
    int64_t shape[AXES], wide[AXES];
    int32_t chunks[AXES], blocks[AXES];
    axes(words[6], shape);
    axes(words[7], wide);
    for (int axis = 0; axis < AXES; axis++)
        chunks[axis] = (int32_t)wide[axis];
    axes(words[8], wide);
    for (int axis = 0; axis < AXES; axis++)
        blocks[axis] = (int32_t)wide[axis];
    blosc2_cparams cparams = cparams_of(words[3], words[4], threads, 4);
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_storage storage = {.contiguous = true, .urlpath = words[2], .cparams = &cparams, .dparams = &dparams};
    double start = now(threads);
    b2nd_context_t* context = b2nd_create_ctx(&storage, AXES, shape, chunks, blocks, "<f4", 0, NULL, 0);
    b2nd_array_t* array;
    int error = b2nd_from_cbuffer(context, &array, bytes, (int64_t)size);
    if (error)
        return error;
    b2nd_free(array);
    b2nd_free_ctx(context);
    *seconds = now(threads) - start;
    return 0;
}

/* slices PATH THREADS WIDTHS random|same COUNT file|mapped|memory: seconds for each */
static int read_slices(char** words, double* seconds, uint64_t* check)
{
    int threads = atoi(words[2]);
    int random = strcmp(words[4], "random") == 0;
    int count = atoi(words[5]);
    int64_t widths[AXES];
    axes(words[3], widths);
    size_t size = sizeof(float);
    for (int axis = 0; axis < AXES; axis++)
        size *= (size_t)widths[axis];
    uint8_t* out = room(size);
    blosc2_schunk* schunk = opened(words[1], words[6], threads);
    b2nd_array_t* array;
    int error = schunk ? b2nd_from_schunk(schunk, &array) : 1;
    if (error)
        return error;
    int checked = random ? CHECKED : 1;
    *check = 0;
    for (int pass = 0; pass < 2 && !error; pass++) {
        double start = now(threads);
        for (int at = 0; at < (pass ? count : checked) && !error; at++) {
            int64_t first[AXES], end[AXES];
            for (int axis = 0; axis < AXES; axis++) {
                uint64_t places = (uint64_t)(array->shape[axis] - widths[axis] + 1);
                uint64_t mixed = ((uint64_t)(random ? at : 0) * 3 + (uint64_t)axis + 1) * UINT64_C(0x9e3779b97f4a7c15);
                first[axis] = (int64_t)((mixed >> 32) % places);
                end[axis] = first[axis] + widths[axis];
            }
            error = b2nd_get_slice_cbuffer(array, first, end, out, widths, (int64_t)size);
            if (!pass)
                *check += check_of(out, size);
        }
        *seconds = (now(threads) - start) / count;
    }
    b2nd_free(array);
    return error;
}

int main(void)
{
    char line[8192];
    blosc2_init();
    while (fgets(line, sizeof line, stdin)) {
        char* words[10];
        int count = 0;
        line[strcspn(line, "\n")] = 0;
        for (char* word = strtok(line, "\t"); word && count < 10; word = strtok(NULL, "\t"))
            words[count++] = word;
        double seconds = 0;
        uint64_t check = 0;
        int checked = 0;
        int error = 1;
        if (count == 1 && strcmp(words[0], "version") == 0) {
            printf("ok\tC-Blosc2 %s\n", blosc2_get_version_string());
            fflush(stdout);
            continue;
        }
        if (count == 5 && strcmp(words[0], "open") == 0)
            error = open_file(words, &seconds);
        else if (count == 7 && strcmp(words[0], "write") == 0)
            error = write_frame(words, &seconds);
        else if (count == 9 && strcmp(words[0], "array") == 0)
            error = write_array(words, &seconds);
        else if (count == 4 && strcmp(words[0], "read") == 0) {
            error = read_frame(words, &seconds, &check);
            checked = 1;
        } else if (count == 7 && strcmp(words[0], "slices") == 0) {
            error = read_slices(words, &seconds, &check);
            checked = 1;
        }
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
