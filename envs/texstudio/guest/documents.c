/* Start-up module of TeXstudio: reports its open documents as the editor has them, which AT-SPI does not tell.

   Preloaded into the stock program, it stands in front of QApplication::exec, the main loop, and QMetaObject::activate,
   which delivers every signal, and calls the real ones. When the loop begins, and after a signal of a document or an
   editor, it writes to the descriptor named by SCI_GYM_STATE_FD one JSON object a line, unless it is the one that was
   written last:

     {"loop": "begins"}
         the main window stands; until then TeXstudio answers nobody.

     {"document": "0x5560b13f45a0", "path": "/home/user/paper.tex", "clean": true, "open": true, "bookmarks": [3],
      "cut": false, "text": "..."}
         what an editor holds; clean: it was not changed since it was read or saved. Lines count from 0. A text
         longer than a line may be is left out, and "cut": true says so.
     {"document": "0x5560b13f45a0", "closed": true}
     {"cursor": "0x5560b13f45a0", "line": 3, "column": 0}
         where the cursor of that document is.
     {"settings": "in effect", "Editor/Font Size": "9", ...}
         some of its settings, as TeXstudio has them and not as its file does.
     {"error": "..."}
         once, when this build of TeXstudio cannot be read.

   The functions that read a document are TeXstudio's own, which it exports. Without SCI_GYM_STATE_FD the module only
   calls through. No headers, so that tcc compiles it without a C library's files:
     tcc -shared -nostdlib -o documents.so documents.c */

extern void *dlsym(void *, const char *);
extern char *getenv(const char *);
extern int atoi(const char *);
extern int unsetenv(const char *);
extern int fcntl(int, int, ...);
extern long write(int, const void *, unsigned long);

#define NEXT ((void *)-1L)
#define ANYWHERE ((void *)0)
#define ACTIVATE "_ZN11QMetaObject8activateEP7QObjectPKS_iPPv"
#define EXEC "_ZN12QApplication4execEv"
#define LINE 60000 /* below what a line may have, 65,536 bytes */
#define SPARE 600  /* bytes of a line kept for what stands beside the text */
#define DOCUMENTS 64
#define MAX_LINES 4000
#define ANY_BOOKMARK -1
#define SET_CLOSE_ON_EXEC 2
#define ABOUT_TO_DELETE 1 /* place of LatexDocuments::aboutToDeleteDocument(LatexDocument *) among its signals */
#define VALID 0x80000000L /* of a QVariant that holds nothing: is_null */
#define METACAST 1 /* place of qt_metacast in a QObject's table of virtual functions */

typedef struct { long words[16]; } Object; /* at least as big as QString, QByteArray and QDocumentCursor */
typedef struct { char text[LINE]; long length; } Line;
typedef struct { void *object; unsigned long said, cursor; } Known;

static Object (*text_of)(void *, char, char), (*file_name)(void *), (*cursor_of)(void *), (*to_utf8)(const Object *);
static int (*line_count)(void *), (*next_mark)(void *, int, int, int), (*bookmark_id)(int);
static int (*line_number)(void *), (*column_number)(void *);
static char (*is_clean)(void *);
static void *(*view_of)(void *), *(*document_of)(void *), *(*config)(void), *(*latin1)(const char *, int);
static Object (*option)(void *, const void *, const Object *), (*to_string)(const Object *);
static void (*end_variant)(Object *);
static void (*end_cursor)(void *), (*deallocate)(void *, long, long);
static void *document_signals, *latex_signals, *editor_signals, *documents_signals;
static Known known[DOCUMENTS];

static int descriptor(void) {
    static int asked, number;
    if (!asked) {
        char *text = getenv("SCI_GYM_STATE_FD");
        number = text && *text ? atoi(text) : -1;
        asked = 1;
        unsetenv("SCI_GYM_STATE_FD"); /* what TeXstudio runs, compilers and terminals, can say nothing in its name */
        if (number >= 0) fcntl(number, SET_CLOSE_ON_EXEC, 1);
    }
    return number;
}

static void put(Line *line, char letter) {
    if (line->length < LINE) line->text[line->length++] = letter;
}

static void put_all(Line *line, const char *text) {
    while (*text) put(line, *text++);
}

static void put_hex(Line *line, unsigned long number, int digits) {
    while (digits--) put(line, "0123456789abcdef"[number >> 4 * digits & 15]);
}

static void put_number(Line *line, long number) {
    if (number < 0) put(line, '-'), number = -number;
    if (number / 10) put_number(line, number / 10);
    put(line, '0' + number % 10);
}

static void put_member(Line *line, const char *name, int holds) {
    put_all(line, name);
    put_all(line, holds ? "true" : "false");
}

/* Free a QString or QByteArray of Qt 5, a pointer to {int ref; int size; uint alloc; long offset}, that nobody shares. */
static void end_array(Object *array, long item) {
    if (*(int *)array->words[0] == 1) deallocate((void *)array->words[0], item, 8);
}

/* A JSON string of a QString, which is freed; 0, and nothing put, when it does not fit. */
static int put_string(Line *line, Object string, long most) {
    long start = line->length;
    Object bytes = to_utf8(&string);
    const char *header = (const char *)bytes.words[0], *text = header + *(const long *)(header + 16);
    long length = *(const int *)(header + 4);
    put(line, '"');
    for (long at = 0; at < length && line->length < most; at++) {
        unsigned char letter = text[at];
        if (letter == '"' || letter == '\\') put(line, '\\'), put(line, letter);
        else if (letter < 0x20) put_all(line, "\\u00"), put_hex(line, letter, 2);
        else put(line, letter);
    }
    put(line, '"');
    end_array(&bytes, 1);
    end_array(&string, 2);
    if (line->length < most) return 1;
    line->length = start;
    return 0;
}

static void begin(Line *line, const char *what, const void *object) {
    line->length = 0;
    put_all(line, "{\"");
    put_all(line, what);
    put_all(line, "\": \"0x");
    put_hex(line, (unsigned long)object, 12);
    put(line, '"');
}

/* Write a line unless `said`, a hash, is that of the same line. */
static void send(Line *line, unsigned long *said) {
    unsigned long hash = 14695981039346656037UL;
    put_all(line, "}\n");
    for (long at = 0; at < line->length; at++) hash = (hash ^ (unsigned char)line->text[at]) * 1099511628211UL;
    if (*said == hash) return;
    *said = hash;
    for (long done = 0, more; done < line->length; done += more)
        if ((more = write(descriptor(), line->text + done, line->length - done)) <= 0) return;
}

static void *find(const char *name) {
    static unsigned long said;
    Line line;
    void *symbol = dlsym(ANYWHERE, name);
    if (symbol || said || descriptor() < 0) return symbol;
    line.length = 0;
    put_all(&line, "{\"error\": \"no symbol ");
    put_all(&line, name);
    put(&line, '"');
    send(&line, &said);
    return 0;
}

/* Find what reading a document needs; 0 when this build of TeXstudio or Qt lacks some of it. */
static int ready(void) {
    static int asked, found;
    if (asked) return found;
    asked = 1;
    found = (text_of = find("_ZNK9QDocument4textEbb")) && (file_name = find("_ZNK13LatexDocument11getFileNameEv"))
        && (cursor_of = find("_ZNK7QEditor6cursorEv")) && (to_utf8 = find("_ZN7QString13toUtf8_helperERKS_"))
        && (line_count = find("_ZNK9QDocument9lineCountEv"))
        && (next_mark = find("_ZNK9QDocument12findNextMarkEiii"))
        && (bookmark_id = find("_ZN15LatexEditorView10bookMarkIdEi"))
        && (line_number = find("_ZNK15QDocumentCursor10lineNumberEv"))
        && (column_number = find("_ZNK15QDocumentCursor12columnNumberEv"))
        && (is_clean = find("_ZNK9QDocument7isCleanEv"))
        && (view_of = find("_ZNK13LatexDocument13getEditorViewEv"))
        && (document_of = find("_ZNK7QEditor8documentEv"))
        && (config = find("_ZN22ConfigManagerInterface11getInstanceEv"))
        && (latin1 = find("_ZN7QString17fromLatin1_helperEPKci"))
        && (option = find("_ZThn16_NK13ConfigManager9getOptionERK7QStringRK8QVariant"))
        && (to_string = find("_ZNK8QVariant8toStringEv")) && (end_variant = find("_ZN8QVariantD1Ev"))
        && (end_cursor = find("_ZN15QDocumentCursorD1Ev")) && (deallocate = find("_ZN10QArrayData10deallocateEPS_mm"))
        && (document_signals = find("_ZN9QDocument16staticMetaObjectE"))
        && (latex_signals = find("_ZN13LatexDocument16staticMetaObjectE"))
        && (editor_signals = find("_ZN7QEditor16staticMetaObjectE"))
        && (documents_signals = find("_ZN14LatexDocuments16staticMetaObjectE"));
    return found;
}

static int is_a(void *object, const char *class) {
    void *(*cast)(void *, const char *) = (*(void *(***)(void *, const char *))object)[METACAST];
    return cast(object, class) != 0;
}

static Known *known_as(void *document) {
    for (int at = 0; at < DOCUMENTS; at++) {
        if (!known[at].object) known[at].object = document;
        if (known[at].object == document) return known + at;
    }
    return 0;
}

static void put_bookmarks(Line *line, void *document, int lines) {
    int first = 1;
    put_all(line, ", \"bookmarks\": [");
    for (int number = ANY_BOOKMARK; number < 10; number++)
        for (int at = 0; at < lines && (at = next_mark(document, bookmark_id(number), at, lines)) >= 0; at++) {
            if (!first) put_all(line, ", ");
            first = 0;
            put_number(line, at);
            if (line->length > LINE / 2) lines = 0;
        }
    put(line, ']');
}

static void report(void *document) {
    static Line line;
    Known *one = known_as(document);
    if (!one) return;
    int lines = line_count(document), cut = lines > MAX_LINES;
    begin(&line, "document", document);
    put_all(&line, ", \"path\": ");
    if (!put_string(&line, file_name(document), 4 * SPARE)) put_all(&line, "\"\"");
    put_member(&line, ", \"clean\": ", is_clean(document));
    put_member(&line, ", \"open\": ", view_of(document) != 0);
    put_bookmarks(&line, document, cut ? 0 : lines);
    put_all(&line, ", \"text\": ");
    if (cut || !put_string(&line, text_of(document, 0, 1), LINE - SPARE)) put_all(&line, "\"\""), cut = 1;
    put_member(&line, ", \"cut\": ", cut);
    send(&line, &one->said);
}

static void report_cursor(void *editor) {
    static Line line;
    void *document = document_of(editor);
    Known *one = document && is_a(document, "LatexDocument") ? known_as(document) : 0;
    if (!one) return;
    Object cursor = cursor_of(editor);
    begin(&line, "cursor", document);
    put_all(&line, ", \"line\": ");
    put_number(&line, line_number(&cursor));
    put_all(&line, ", \"column\": ");
    put_number(&line, column_number(&cursor));
    end_cursor(&cursor);
    send(&line, &one->cursor);
}

static void put_setting(Line *line, const char *name) {
    Object nothing = {{0, VALID}}, key = {{0}};
    int length = 0;
    while (name[length]) length++;
    key.words[0] = (long)latin1(name, length);
    Object value = option(config(), &key, &nothing);
    put_all(line, ", \"");
    put_all(line, name);
    put_all(line, "\": ");
    if (!put_string(line, to_string(&value), line->length + SPARE)) put_all(line, "\"\"");
    end_variant(&value);
    end_array(&key, 2);
}

static void report_settings(void) {
    static const char *names[] = {
        "Editor/Font Size", "Editor/RemoveTrailingWsOnSave", "Editor/Folding", "Editor/Line Number Multiples",
        0};
    static Line line;
    static unsigned long said;
    line.length = 0;
    put_all(&line, "{\"settings\": \"in effect\"");
    for (int at = 0; names[at]; at++) put_setting(&line, names[at]);
    send(&line, &said);
}

static void report_closed(void *document) {
    static Line line;
    Known *one = known_as(document);
    if (!one) return;
    begin(&line, "document", document);
    put_all(&line, ", \"closed\": true");
    send(&line, &one->said);
    one->said = one->cursor = 0;
}

int _ZN12QApplication4execEv(void) {
    static Line line;
    unsigned long said = 0;
    int (*real)(void) = dlsym(NEXT, EXEC);
    if (descriptor() >= 0) {
        put_all(&line, "{\"loop\": \"begins\"");
        send(&line, &said);
    }
    return real();
}

void _ZN11QMetaObject8activateEP7QObjectPKS_iPPv(void *sender, void *class, int signal, void **arguments) {
    static void (*real)(void *, void *, int, void **);
    static int busy;
    if (!real) real = dlsym(NEXT, ACTIVATE);
    real(sender, class, signal, arguments);
    if (descriptor() < 0 || !ready()) return;
    if (class != document_signals && class != latex_signals && class != editor_signals && class != documents_signals)
        return; /* perhaps of another thread */
    if (busy) return;
    busy = 1; /* signals of what is asked here tell nothing new */
    if ((class == document_signals || class == latex_signals) && is_a(sender, "LatexDocument")) report(sender);
    if (class == editor_signals) report_cursor(sender);
    report_settings();
    if (class == documents_signals && signal == ABOUT_TO_DELETE) report_closed(*(void **)arguments[1]);
    busy = 0;
}
