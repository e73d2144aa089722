/* Start-up module of Celestia: gives its Lua hook the channel on which it reports, and keeps foreign code out.

   Preloaded into the stock program, it stands in front of fopen. The first who opens /sci_gym/state, which is the
   hook before a policy can act, writes to the descriptor that SCI_GYM_STATE_FD names; nobody after it does. A script
   in Lua (.celx, .clx) is refused to everybody, since Lua can load a library, which could report anything; a script
   of Celestia's own commands (.cel) is refused where SCI_GYM_INTERFACE is "gui".

   No headers, so that tcc compiles it without a C library's files:
     tcc -shared -nostdlib -o channel.so channel.c */

extern void *dlsym(void *, const char *);
extern char *getenv(const char *);
extern int atoi(const char *), unsetenv(const char *), fcntl(int, int, ...);
extern int strcmp(const char *, const char *), strcasecmp(const char *, const char *);
extern char *strrchr(const char *, int);
extern void *fdopen(int, const char *);
extern int *__errno_location(void);

#define NEXT ((void *)-1L)
#define CHANNEL "/sci_gym/state"
#define SET_CLOSE_ON_EXEC 2
#define NO_ENTRY 2
#define NONE -1

typedef void *Opener(const char *, const char *);

static int descriptor, without_scripts;

static void begin(void) {
    static int begun;
    char *text = getenv("SCI_GYM_STATE_FD"), *interface = getenv("SCI_GYM_INTERFACE");
    if (begun) return;
    begun = 1;
    descriptor = text && *text ? atoi(text) : NONE;
    without_scripts = interface && !strcmp(interface, "gui");
    unsetenv("SCI_GYM_STATE_FD"); /* what Celestia starts, such as a browser, can say nothing in its name */
    if (descriptor != NONE) fcntl(descriptor, SET_CLOSE_ON_EXEC, 1);
}

static int is_refused(const char *path) {
    const char *suffix = strrchr(path, '.');
    if (!suffix) return 0;
    if (!strcasecmp(suffix, ".celx") || !strcasecmp(suffix, ".clx")) return 1;
    return without_scripts && !strcasecmp(suffix, ".cel");
}

static void *open_with(const char *opener, const char *path, const char *mode) {
    begin();
    if (!strcmp(path, CHANNEL) && descriptor != NONE) {
        int given = descriptor;
        descriptor = NONE;
        return fdopen(given, mode);
    }
    if (is_refused(path)) {
        *__errno_location() = NO_ENTRY;
        return 0;
    }
    return ((Opener *)dlsym(NEXT, opener))(path, mode);
}

void *fopen(const char *path, const char *mode) { return open_with("fopen", path, mode); }
void *fopen64(const char *path, const char *mode) { return open_with("fopen64", path, mode); }
