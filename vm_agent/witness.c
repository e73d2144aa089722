/* Preloaded into every program: counts what Qt's models and views of items say of their changes.

   Qt tells accessibility clients nothing of what fills a list or table that is not on screen. Its own signals do, and
   Qt calls back for each of them (qt_register_signal_spy_callbacks, Qt 5.14 and later). The count is the first 8 bytes
   of the memory that SCI_GYM_WITNESS_FD names: 0 for as long as nobody counts. A program without Qt is left as it is.

   No headers, so that tcc compiles it without a C library's files:
     tcc -shared -nostdlib -o witness.so witness.c */

extern void *dlsym(void *, const char *);
extern char *getenv(const char *);
extern int atoi(const char *);
extern int unsetenv(const char *);
extern int close(int);
extern void *mmap(void *, unsigned long, int, int, int, long);

#define ANYWHERE ((void *)0)
#define READ_WRITE 3
#define SHARED 1
#define FAILED ((void *)-1L)
#define META_OBJECT 0 /* places in a QObject's table of virtual functions */
#define METACAST 1
#define CLASSES 1024
#define OF_ITEMS 1UL /* beside the address of a class, whose last bits are 0 */

typedef struct { void (*signal_begins)(void *, int, void **), *slot_begins, *signal_ends, *slot_ends; } Callbacks;

static volatile unsigned long *count;
static volatile unsigned long classes[CLASSES]; /* each word is written at once, whatever the thread */

static int is_of_items(void *object) {
    void **functions = *(void ***)object;
    unsigned long class = (unsigned long)((void *(*)(void *))functions[META_OBJECT])(object);
    volatile unsigned long *place = classes + (class >> 4) % CLASSES;
    unsigned long known = *place;
    if ((known & ~OF_ITEMS) != class) {
        void *(*cast)(void *, const char *) = (void *(*)(void *, const char *))functions[METACAST];
        int holds = cast(object, "QAbstractItemModel") || cast(object, "QItemSelectionModel")
            || cast(object, "QAbstractItemView");
        *place = known = class | (holds ? OF_ITEMS : 0);
    }
    return known & OF_ITEMS;
}

static void signal_begins(void *sender, int signal, void **arguments) {
    (void)signal, (void)arguments;
    if (is_of_items(sender)) ++*count;
}

static void __attribute__((constructor)) begin(void) {
    static Callbacks callbacks = {signal_begins, 0, 0, 0};
    void (*listen)(Callbacks *) = dlsym(ANYWHERE, "_Z32qt_register_signal_spy_callbacksP21QSignalSpyCallbackSet");
    const char *text = getenv("SCI_GYM_WITNESS_FD");
    if (!listen || !text) return;
    int memory = atoi(text);
    void *mapped = mmap(0, sizeof *count, READ_WRITE, SHARED, memory, 0);
    unsetenv("SCI_GYM_WITNESS_FD"); /* what the program runs counts for nothing */
    close(memory);
    if (mapped == FAILED) return;
    count = mapped;
    *count = 1;
    listen(&callbacks);
}
