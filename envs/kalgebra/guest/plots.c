/* Start-up module of KAlgebra: reports what AT-SPI shows late, in part or never: plots, viewport, variables' values.

   Preloaded into the stock program, it stands in front of functions of libAnalitza and libAnalitzaPlot, calls the real
   ones, and writes to the descriptor named by SCI_GYM_STATE_FD one JSON object a line:

     {"model": "0x5560b13f45a0", "number": 0, "plots": [
         {"dimension": 3, "name": "f0", "plot": "x*y", "color": "#ff0000", "visible": true}]}
         what a plots model holds after a change; model 0 is that of the 2D Graph tab. Of the others (the preview of
         the function editor, which changes twice per key, and the dictionary) only those with plots in space count.
     {"plotter": "0x5560b13e0010", "number": 0, "left": -10.0, "top": 10.0, "width": 20.0, "height": 20.0}
         the viewport that was applied; plotter 0 is that of the 2D Graph tab.
     {"variable": "p", "value": "1+-i"}
         a value that was given to a variable of the first table of variables met, the calculator's, as Analitza writes it.
     {"error": "..."}
         once, when this build of Qt or Analitza cannot be read.

   Each line is one write() shorter than PIPE_BUF; plots that do not fit are left out, and "cut": true says so. Without
   SCI_GYM_STATE_FD the module only calls through. No headers, so that tcc compiles it without a C library's files:
     tcc -shared -nostdlib -o plots.so plots.c     or     gcc -shared -fPIC -nostdlib -o plots.so plots.c */

extern void *dlsym(void *, const char *);
extern char *getenv(const char *);
extern int atoi(const char *);
extern int unsetenv(const char *);
extern int fcntl(int, int, ...);
extern long write(int, const void *, unsigned long);

#define NEXT ((void *)-1L)
#define LINE 4000 /* below PIPE_BUF, 4096 */
#define SPARE 200 /* bytes of a line kept for what follows a text */
#define OBJECTS 64
#define SET_CLOSE_ON_EXEC 2
#define CREATE "_ZN8Analitza10PlotsModelC1EP7QObject"
#define ADD "_ZN8Analitza10PlotsModel7addPlotEPNS_8PlotItemE"
#define CLEAR "_ZN8Analitza10PlotsModel5clearEv"
#define UPDATE "_ZN8Analitza10PlotsModel10updatePlotEiPNS_8PlotItemE"
#define REMOVE "_ZN8Analitza10PlotsModel10removeRowsEiiRK11QModelIndex"
#define SET "_ZN8Analitza10PlotsModel7setDataERK11QModelIndexRK8QVarianti"
#define VIEWPORT "_ZN8Analitza9Plotter2D11setViewportERK6QRectFb"
#define MODIFY "_ZN8Analitza9Variables6modifyERK7QStringPKNS_6ObjectE"
#define DISPLAY_ROLE 0
#define CHECK_ROLE 10
#define DIMENSION_ROLE 257 /* Qt::UserRole + 1 */
#define PLOT_ROLE 258
#define SPACE 4            /* Analitza::Dim3D, a flag */

typedef struct { long words[8]; } Object; /* at least as big as QVariant, QString and QByteArray */
typedef struct { int row, column; unsigned long id; const void *model; } Index; /* QModelIndex */
typedef struct { double left, top, width, height; } Rectangle;                  /* QRectF */
typedef struct { char text[LINE]; int length; } Line;
typedef struct { const void *object; int reported; } Known;

static Object (*data)(const void *, const Index *, int);
static int (*row_count)(const void *, const Index *);
static Object (*to_string)(const Object *);
static int (*to_int)(const Object *, void *);
static Object (*to_utf8)(const Object *);
static Object (*color_name)(const void *, int);
static void (*end_variant)(Object *);
static int qt_major;
static Known models[OBJECTS], plotters[OBJECTS], tables[OBJECTS];

static int descriptor(void) {
    static int known, number;
    if (!known) {
        char *text = getenv("SCI_GYM_STATE_FD");
        number = text && *text ? atoi(text) : -1;
        known = 1;
        unsetenv("SCI_GYM_STATE_FD"); /* a second KAlgebra, from the Session menu, keeps its plots to itself */
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
    if (number / 10) put_number(line, number / 10);
    put(line, '0' + number % 10);
}

/* Six decimals, by hand: printf's decimal point depends on the locale. */
static void put_decimal(Line *line, const char *name, double number) {
    put_all(line, name);
    if (number < 0) put(line, '-'), number = -number;
    if (!(number < 1e12)) number = 1e12;
    long scaled = (long)(number * 1e6 + 0.5);
    put_number(line, scaled / 1000000);
    put(line, '.');
    for (long unit = 100000; unit; unit /= 10) put(line, '0' + scaled / unit % 10);
}

/* A JSON string; what does not fit is cut between characters. */
static void put_string(Line *line, const char *text, long length) {
    put(line, '"');
    for (long at = 0; at < length; at++) {
        unsigned char letter = text[at];
        if (line->length > LINE - SPARE && (letter & 0xC0) != 0x80) break;
        if (letter == '"' || letter == '\\') put(line, '\\'), put(line, letter);
        else if (letter < 0x20) put_all(line, "\\u00"), put_hex(line, letter, 2);
        else put(line, letter);
    }
    put(line, '"');
}

static void begin(Line *line, const char *what, const void *object, int number) {
    line->length = 0;
    put_all(line, "{\"");
    put_all(line, what);
    put_all(line, "\": \"0x");
    put_hex(line, (unsigned long)object, 12);
    put_all(line, "\", \"number\": ");
    put_number(line, number);
}

static void send(Line *line) {
    put_all(line, "}\n");
    if (line->length < LINE && write(descriptor(), line->text, line->length) < 0) return;
}

/* Whether a symbol is there; the first that is not is reported. */
static int found(void *symbol, const char *name) {
    static int said;
    Line line = {"", 0};
    if (symbol || said || descriptor() < 0) return symbol != 0;
    said = 1;
    put_all(&line, "{\"error\": \"no symbol ");
    put_all(&line, name);
    put(&line, '"');
    send(&line);
    return 0;
}

/* The place of an object in the order in which objects of its kind were first met, -1 when there are too many. */
static int number_of(Known *known, const void *object) {
    for (int at = 0; at < OBJECTS; at++) {
        if (!known[at].object) known[at].object = object;
        if (known[at].object == object) return at;
    }
    return -1;
}

/* Find what reading a model needs; 0 when this build of Qt or Analitza lacks some of it. */
static int ready(void) {
    const char *(*version)(void) = dlsym(NEXT, "qVersion");
    data = dlsym(NEXT, "_ZNK8Analitza10PlotsModel4dataERK11QModelIndexi");
    row_count = dlsym(NEXT, "_ZNK8Analitza10PlotsModel8rowCountERK11QModelIndex");
    to_string = dlsym(NEXT, "_ZNK8QVariant8toStringEv");
    to_int = dlsym(NEXT, "_ZNK8QVariant5toIntEPb");
    to_utf8 = dlsym(NEXT, "_ZN7QString13toUtf8_helperERKS_");
    end_variant = dlsym(NEXT, "_ZN8QVariantD1Ev");
    color_name = dlsym(NEXT, "_ZNK6QColor4nameENS_10NameFormatE");
    if (!found(version, "qVersion")) return 0;
    qt_major = atoi(version());
    return found(data, "PlotsModel::data") && found(row_count, "PlotsModel::rowCount")
        && found(to_string, "QVariant::toString") && found(to_int, "QVariant::toInt")
        && found(to_utf8, "QString::toUtf8_helper") && found(end_variant, "QVariant::~QVariant");
}

static int number_at(const void *model, int row, int role) {
    Index index = {row, 0, 0, model};
    Object value = data(model, &index, role);
    int number = to_int(&value, 0);
    end_variant(&value);
    return number;
}

/* A QString. */
static void put_text(Line *line, const void *string) {
    Object bytes = to_utf8(string);
    /* Qt 5: a pointer to {int ref; int size; uint alloc; long offset}. Qt 6: {header, char *, long size}.
       The bytes and the string are left unfreed: tens of bytes per change, against one more symbol to depend on. */
    if (qt_major >= 6) {
        put_string(line, (const char *)bytes.words[1], bytes.words[2]);
    } else {
        const char *header = (const char *)bytes.words[0];
        put_string(line, header + *(const long *)(header + 16), *(const int *)(header + 4));
    }
}

static void put_text_at(Line *line, const void *model, int row, int column) {
    Index index = {row, column, 0, model};
    Object value = data(model, &index, DISPLAY_ROLE);
    Object string = to_string(&value);
    put_text(line, &string);
    end_variant(&value);
}

/* "#rrggbb". PlotItem::color() is inline: the QColor comes after the pointer of virtual functions and a QString. */
static void put_color_at(Line *line, const void *model, int row) {
    Index index = {row, 0, 0, model};
    Object value = data(model, &index, PLOT_ROLE);
    const char *item = (const char *)value.words[0]; /* a variant keeps a pointer inline */
    if (item && color_name) {
        Object string = color_name(item + (qt_major >= 6 ? 32 : 16), 0);
        put_text(line, &string);
    } else {
        put_string(line, "", 0);
    }
    end_variant(&value);
}

/* Report all that a model holds, `rows` of it. */
static void report_rows(const void *model, int number, int rows) {
    Line line;
    begin(&line, "model", model, number);
    put_all(&line, ", \"plots\": [");
    int row = 0;
    for (; row < rows && line.length < LINE - 2 * SPARE; row++) {
        put_all(&line, row ? ", {\"dimension\": " : "{\"dimension\": ");
        put_number(&line, number_at(model, row, DIMENSION_ROLE) == SPACE ? 3 : 2);
        put_all(&line, ", \"name\": ");
        put_text_at(&line, model, row, 0);
        put_all(&line, ", \"plot\": ");
        put_text_at(&line, model, row, 1);
        put_all(&line, ", \"color\": ");
        put_color_at(&line, model, row);
        put_all(&line, number_at(model, row, CHECK_ROLE) ? ", \"visible\": true}" : ", \"visible\": false}");
    }
    put_all(&line, row < rows ? "], \"cut\": true" : "]");
    send(&line);
}

static void report(const void *model) {
    Index none = {-1, -1, 0, 0};
    int number = number_of(models, model);
    if (descriptor() < 0 || number < 0 || !ready()) return;
    int rows = row_count(model, &none);
    if (number > 0 && rows > 0 && number_at(model, 0, DIMENSION_ROLE) == SPACE) models[number].reported = 1;
    if (number == 0 || models[number].reported) report_rows(model, number, rows);
}

void _ZN8Analitza10PlotsModelC1EP7QObject(void *model, void *parent) {
    void (*real)(void *, void *) = dlsym(NEXT, CREATE);
    if (!found(real, CREATE)) return;
    real(model, parent);
    report(model);
}

void _ZN8Analitza10PlotsModel7addPlotEPNS_8PlotItemE(void *model, void *item) {
    void (*real)(void *, void *) = dlsym(NEXT, ADD);
    if (!found(real, ADD)) return;
    real(model, item);
    report(model);
}

void _ZN8Analitza10PlotsModel10updatePlotEiPNS_8PlotItemE(void *model, int row, void *item) {
    void (*real)(void *, int, void *) = dlsym(NEXT, UPDATE);
    if (!found(real, UPDATE)) return;
    real(model, row, item);
    report(model);
}

char _ZN8Analitza10PlotsModel10removeRowsEiiRK11QModelIndex(void *model, int row, int count, void *parent) {
    char (*real)(void *, int, int, void *) = dlsym(NEXT, REMOVE);
    if (!found(real, REMOVE)) return 0;
    char done = real(model, row, count, parent);
    report(model);
    return done;
}

char _ZN8Analitza10PlotsModel7setDataERK11QModelIndexRK8QVarianti(void *model, void *index, void *value, int role) {
    char (*real)(void *, void *, void *, int) = dlsym(NEXT, SET);
    if (!found(real, SET)) return 0;
    char done = real(model, index, value, role);
    report(model);
    return done;
}

void _ZN8Analitza10PlotsModel5clearEv(void *model) {
    void (*real)(void *) = dlsym(NEXT, CLEAR);
    if (!found(real, CLEAR)) return;
    real(model);
    report(model);
}

void _ZN8Analitza9Plotter2D11setViewportERK6QRectFb(void *plotter, const Rectangle *wanted, char repaint) {
    Line line;
    Rectangle view = *wanted;
    int number = number_of(plotters, plotter);
    void (*real)(void *, const Rectangle *, char) = dlsym(NEXT, VIEWPORT);
    if (!found(real, VIEWPORT)) return;
    real(plotter, wanted, repaint);
    if (descriptor() < 0 || number != 0) return;
    begin(&line, "plotter", plotter, number);
    put_decimal(&line, ", \"left\": ", view.left);
    put_decimal(&line, ", \"top\": ", view.top);
    put_decimal(&line, ", \"width\": ", view.width);
    put_decimal(&line, ", \"height\": ", -view.height); /* y grows upwards: Analitza's heights are negative */
    send(&line);
}

void _ZN8Analitza9Variables6modifyERK7QStringPKNS_6ObjectE(void *variables, const void *name, const void *object) {
    void (*real)(void *, const void *, const void *) = dlsym(NEXT, MODIFY);
    Object (*written)(const void *) = dlsym(NEXT, "_ZNK8Analitza6Object8toStringEv");
    Line line = {"", 0};
    if (!found(real, MODIFY)) return;
    real(variables, name, object);
    if (number_of(tables, variables) || descriptor() < 0 || !ready() || !found(written, "Object::toString")) return;
    Object value = written(object);
    put_all(&line, "{\"variable\": ");
    put_text(&line, name);
    put_all(&line, ", \"value\": ");
    put_text(&line, &value);
    send(&line);
}
