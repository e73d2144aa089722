/* The command `lean` of a toolchain whose library has all but this: bin/lean beside lib/lean/libleanshared.so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char path[PATH_MAX + 64];
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX);
    if (size < 0) {
        perror("lean: /proc/self/exe");
        return 127;
    }
    path[size] = 0;
    strcpy(strrchr(path, '/'), "/../lib/lean/libleanshared.so");
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "lean_main") : 0;
    if (!run) {
        fprintf(stderr, "lean: %s\n", dlerror());
        return 127;
    }
    int code = run(argc, argv);
    fflush(0);
    _exit(code); /* its threads would not end by themselves */
}
