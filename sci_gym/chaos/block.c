/* Start-up module that blocks a program's main loop for good as soon as a file is there. No headers, as in
   the start-up modules of apps, to which it may be appended. */

extern void *dlsym(void *, const char *);
extern int access(const char *, int);
extern int getpid(void), gettid(void), pause(void);

int poll(void *descriptors, unsigned long count, int timeout) {
    int (*real)(void *, unsigned long, int) = dlsym((void *)-1L, "poll");
    if (getpid() == gettid()) {
        while (!access("/home/user/.sci-gym-block", 0)) pause();
    }
    return real(descriptors, count, timeout);
}
