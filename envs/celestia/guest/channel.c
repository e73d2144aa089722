/* Start-up module of Celestia: gives its Lua hook the channel on which it reports, and keeps foreign code out.

   Preloaded into the stock program, it stands in front of fopen. The first who opens /sci_gym/state, which is the
   hook before a policy can act, writes to the descriptor that SCI_GYM_STATE_FD names; nobody after it does. A script
   in Lua (.celx, .clx) is refused to everybody, since Lua can load a library, which could report anything; a script
   of Celestia's own commands (.cel) is refused where SCI_GYM_INTERFACE is "gui".

   It also stands in front of QMetaObject::activate, which delivers every signal. Qt 6.4 and older, told the
   accessibility bus by AT_SPI_BUS_ADDRESS, tell its bridge that it is enabled before the bridge listens, and then never
   register with it; the signal is sent once more with the next one of the same thread, when the bridge does listen. In
   later versions the class has another name.

   No headers, so that tcc compiles it without a C library's files:
     tcc -shared -nostdlib -o channel.so channel.c */

extern void *dlsym(void *, const char *);
extern char *getenv(const char *);
extern int atoi(const char *), unsetenv(const char *), fcntl(int, int, ...);
extern int strcmp(const char *, const char *), strcasecmp(const char *, const char *);
extern char *strrchr(const char *, int);
extern void *fdopen(int, const char *);
extern int *__errno_location(void);
extern unsigned long pthread_self(void);

#define NEXT ((void *)-1L)
#define CHANNEL "/sci_gym/state"
#define SET_CLOSE_ON_EXEC 2
#define NO_ENTRY 2
#define NONE -1
#define ACTIVATE _ZN11QMetaObject8activateEP7QObjectPKS_iPPv
#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)
#define CLASS_NAME "_ZNK11QMetaObject9classNameEv"
#define BUS_CLASS "DBusConnection"

typedef void *Opener(const char *, const char *);
typedef void Activate(void *, const void *, int, void **);
typedef const char *ClassName(const void *);

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

void ACTIVATE(void *sender, const void *meta, int signal, void **arguments) {
    static Activate *activate;
    static ClassName *class_name;
    static void *unheard;
    static const void *its_meta;
    static unsigned long its_thread;
    static int its_signal, found;
    if (!activate) {
        class_name = dlsym(NEXT, CLASS_NAME);
        activate = dlsym(NEXT, NAME_OF(ACTIVATE));
    }
    activate(sender, meta, signal, arguments);
    if (!found && !strcmp(class_name(meta), BUS_CLASS)) {
        found = 1;
        its_meta = meta;
        its_signal = signal;
        its_thread = pthread_self();
        unheard = sender;
    } else if (unheard && sender != unheard && pthread_self() == its_thread) {
        char yes = 1;
        void *again[] = {0, &yes}, *bus = unheard;
        unheard = 0;
        activate(bus, its_meta, its_signal, again);
    }
}
