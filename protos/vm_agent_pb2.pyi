from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Clipboard(_message.Message):
    __slots__ = ["text"]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class CloseRequest(_message.Message):
    __slots__ = ["grace_ms", "id"]
    GRACE_MS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    grace_ms: int
    id: int
    def __init__(self, id: _Optional[int] = ..., grace_ms: _Optional[int] = ...) -> None: ...

class ExecChunk(_message.Message):
    __slots__ = ["result", "stderr", "stdout"]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    result: ExecResult
    stderr: bytes
    stdout: bytes
    def __init__(self, stdout: _Optional[bytes] = ..., stderr: _Optional[bytes] = ..., result: _Optional[_Union[ExecResult, _Mapping]] = ...) -> None: ...

class ExecRequest(_message.Message):
    __slots__ = ["argv", "max_output_bytes", "stdin", "timeout_ms"]
    ARGV_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    argv: _containers.RepeatedScalarFieldContainer[str]
    max_output_bytes: int
    stdin: bytes
    timeout_ms: int
    def __init__(self, argv: _Optional[_Iterable[str]] = ..., stdin: _Optional[bytes] = ..., timeout_ms: _Optional[int] = ..., max_output_bytes: _Optional[int] = ...) -> None: ...

class ExecResult(_message.Message):
    __slots__ = ["exit_code", "timed_out", "truncated"]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    exit_code: int
    timed_out: bool
    truncated: bool
    def __init__(self, exit_code: _Optional[int] = ..., timed_out: bool = ..., truncated: bool = ...) -> None: ...

class FileChunk(_message.Message):
    __slots__ = ["data"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class GetClipboardRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetCursorRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetFileRequest(_message.Message):
    __slots__ = ["max_bytes", "path"]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    max_bytes: int
    path: str
    def __init__(self, path: _Optional[str] = ..., max_bytes: _Optional[int] = ...) -> None: ...

class GetScreenSizeRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class HealthReply(_message.Message):
    __slots__ = ["parts"]
    class Part(_message.Message):
        __slots__ = ["detail", "healthy", "name"]
        DETAIL_FIELD_NUMBER: _ClassVar[int]
        HEALTHY_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        detail: str
        healthy: bool
        name: str
        def __init__(self, name: _Optional[str] = ..., healthy: bool = ..., detail: _Optional[str] = ...) -> None: ...
    PARTS_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[HealthReply.Part]
    def __init__(self, parts: _Optional[_Iterable[_Union[HealthReply.Part, _Mapping]]] = ...) -> None: ...

class HealthRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class HelloReply(_message.Message):
    __slots__ = ["agent_version", "protocol_version", "python_version", "screen", "session"]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    PYTHON_VERSION_FIELD_NUMBER: _ClassVar[int]
    SCREEN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    agent_version: str
    protocol_version: int
    python_version: str
    screen: ScreenSize
    session: str
    def __init__(self, protocol_version: _Optional[int] = ..., agent_version: _Optional[str] = ..., python_version: _Optional[str] = ..., screen: _Optional[_Union[ScreenSize, _Mapping]] = ..., session: _Optional[str] = ...) -> None: ...

class HelloRequest(_message.Message):
    __slots__ = ["claim"]
    CLAIM_FIELD_NUMBER: _ClassVar[int]
    claim: bool
    def __init__(self, claim: bool = ...) -> None: ...

class Image(_message.Message):
    __slots__ = ["base", "encoding", "generation", "height_px", "tiles", "width_px"]
    class Encoding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    BASE_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    ENCODING_LZ4: Image.Encoding
    ENCODING_NONE: Image.Encoding
    ENCODING_RAW: Image.Encoding
    ENCODING_SHARED: Image.Encoding
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_PX_FIELD_NUMBER: _ClassVar[int]
    TILES_FIELD_NUMBER: _ClassVar[int]
    WIDTH_PX_FIELD_NUMBER: _ClassVar[int]
    base: int
    encoding: Image.Encoding
    generation: int
    height_px: int
    tiles: _containers.RepeatedCompositeFieldContainer[Tile]
    width_px: int
    def __init__(self, encoding: _Optional[_Union[Image.Encoding, str]] = ..., width_px: _Optional[int] = ..., height_px: _Optional[int] = ..., generation: _Optional[int] = ..., base: _Optional[int] = ..., tiles: _Optional[_Iterable[_Union[Tile, _Mapping]]] = ...) -> None: ...

class Input(_message.Message):
    __slots__ = ["button", "clicks_x", "clicks_y", "count", "keys", "kind", "text", "x_px", "y_px"]
    class Button(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    BUTTON_FIELD_NUMBER: _ClassVar[int]
    BUTTON_LEFT: Input.Button
    BUTTON_MIDDLE: Input.Button
    BUTTON_RIGHT: Input.Button
    CLICKS_X_FIELD_NUMBER: _ClassVar[int]
    CLICKS_Y_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    KIND_BUTTON_DOWN: Input.Kind
    KIND_BUTTON_UP: Input.Kind
    KIND_CLICK: Input.Kind
    KIND_DRAG_TO: Input.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_KEY_DOWN: Input.Kind
    KIND_KEY_UP: Input.Kind
    KIND_MOVE_TO: Input.Kind
    KIND_NONE: Input.Kind
    KIND_PRESS: Input.Kind
    KIND_SCROLL: Input.Kind
    KIND_TYPE: Input.Kind
    TEXT_FIELD_NUMBER: _ClassVar[int]
    X_PX_FIELD_NUMBER: _ClassVar[int]
    Y_PX_FIELD_NUMBER: _ClassVar[int]
    button: Input.Button
    clicks_x: int
    clicks_y: int
    count: int
    keys: _containers.RepeatedScalarFieldContainer[str]
    kind: Input.Kind
    text: str
    x_px: int
    y_px: int
    def __init__(self, kind: _Optional[_Union[Input.Kind, str]] = ..., x_px: _Optional[int] = ..., y_px: _Optional[int] = ..., button: _Optional[_Union[Input.Button, str]] = ..., count: _Optional[int] = ..., clicks_x: _Optional[int] = ..., clicks_y: _Optional[int] = ..., text: _Optional[str] = ..., keys: _Optional[_Iterable[str]] = ...) -> None: ...

class Inspected(_message.Message):
    __slots__ = ["name", "problem", "result", "stderr", "stdout"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    name: str
    problem: str
    result: ExecResult
    stderr: bytes
    stdout: bytes
    def __init__(self, name: _Optional[str] = ..., stdout: _Optional[bytes] = ..., stderr: _Optional[bytes] = ..., result: _Optional[_Union[ExecResult, _Mapping]] = ..., problem: _Optional[str] = ...) -> None: ...

class Inspection(_message.Message):
    __slots__ = ["argv", "env", "max_output_bytes", "name", "stdin", "watches"]
    class EnvEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ARGV_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    WATCHES_FIELD_NUMBER: _ClassVar[int]
    argv: _containers.RepeatedScalarFieldContainer[str]
    env: _containers.ScalarMap[str, str]
    max_output_bytes: int
    name: str
    stdin: bytes
    watches: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., argv: _Optional[_Iterable[str]] = ..., stdin: _Optional[bytes] = ..., env: _Optional[_Mapping[str, str]] = ..., watches: _Optional[_Iterable[str]] = ..., max_output_bytes: _Optional[int] = ...) -> None: ...

class LaunchRequest(_message.Message):
    __slots__ = ["argv", "await_report", "env", "max_launches", "name", "preload_c", "preload_py", "register_ms"]
    class EnvEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ARGV_FIELD_NUMBER: _ClassVar[int]
    AWAIT_REPORT_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    MAX_LAUNCHES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRELOAD_C_FIELD_NUMBER: _ClassVar[int]
    PRELOAD_PY_FIELD_NUMBER: _ClassVar[int]
    REGISTER_MS_FIELD_NUMBER: _ClassVar[int]
    argv: _containers.RepeatedScalarFieldContainer[str]
    await_report: bool
    env: _containers.ScalarMap[str, str]
    max_launches: int
    name: str
    preload_c: str
    preload_py: str
    register_ms: int
    def __init__(self, name: _Optional[str] = ..., argv: _Optional[_Iterable[str]] = ..., env: _Optional[_Mapping[str, str]] = ..., preload_c: _Optional[str] = ..., preload_py: _Optional[str] = ..., await_report: bool = ..., register_ms: _Optional[int] = ..., max_launches: _Optional[int] = ...) -> None: ...

class ListProgramsReply(_message.Message):
    __slots__ = ["programs"]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    programs: _containers.RepeatedCompositeFieldContainer[Program]
    def __init__(self, programs: _Optional[_Iterable[_Union[Program, _Mapping]]] = ...) -> None: ...

class ListProgramsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListWindowsReply(_message.Message):
    __slots__ = ["windows"]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    windows: _containers.RepeatedCompositeFieldContainer[Window]
    def __init__(self, windows: _Optional[_Iterable[_Union[Window, _Mapping]]] = ...) -> None: ...

class ListWindowsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Node(_message.Message):
    __slots__ = ["column", "description", "extents", "has_value", "is_cell", "name", "program_id", "role", "row", "states", "text", "value"]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    EXTENTS_FIELD_NUMBER: _ClassVar[int]
    HAS_VALUE_FIELD_NUMBER: _ClassVar[int]
    IS_CELL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    column: int
    description: str
    extents: Rect
    has_value: bool
    is_cell: bool
    name: str
    program_id: int
    role: str
    row: int
    states: int
    text: str
    value: float
    def __init__(self, role: _Optional[str] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., text: _Optional[str] = ..., has_value: bool = ..., value: _Optional[float] = ..., states: _Optional[int] = ..., extents: _Optional[_Union[Rect, _Mapping]] = ..., program_id: _Optional[int] = ..., row: _Optional[int] = ..., column: _Optional[int] = ..., is_cell: bool = ...) -> None: ...

class Observation(_message.Message):
    __slots__ = ["consistent", "pointer", "screenshot", "tree", "windows"]
    CONSISTENT_FIELD_NUMBER: _ClassVar[int]
    POINTER_FIELD_NUMBER: _ClassVar[int]
    SCREENSHOT_FIELD_NUMBER: _ClassVar[int]
    TREE_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    consistent: bool
    pointer: Pointer
    screenshot: Image
    tree: Tree
    windows: _containers.RepeatedCompositeFieldContainer[Window]
    def __init__(self, screenshot: _Optional[_Union[Image, _Mapping]] = ..., tree: _Optional[_Union[Tree, _Mapping]] = ..., pointer: _Optional[_Union[Pointer, _Mapping]] = ..., windows: _Optional[_Iterable[_Union[Window, _Mapping]]] = ..., consistent: bool = ...) -> None: ...

class ObserveRequest(_message.Message):
    __slots__ = ["fresh_tree", "known_image", "known_tree", "max_nodes", "screenshot", "shared_memory", "tree", "tree_ms"]
    class TreeScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    FRESH_TREE_FIELD_NUMBER: _ClassVar[int]
    KNOWN_IMAGE_FIELD_NUMBER: _ClassVar[int]
    KNOWN_TREE_FIELD_NUMBER: _ClassVar[int]
    MAX_NODES_FIELD_NUMBER: _ClassVar[int]
    SCREENSHOT_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_FIELD_NUMBER: _ClassVar[int]
    TREE_ALL: ObserveRequest.TreeScope
    TREE_FIELD_NUMBER: _ClassVar[int]
    TREE_MS_FIELD_NUMBER: _ClassVar[int]
    TREE_NONE: ObserveRequest.TreeScope
    TREE_SHOWING: ObserveRequest.TreeScope
    fresh_tree: bool
    known_image: int
    known_tree: int
    max_nodes: int
    screenshot: bool
    shared_memory: bool
    tree: ObserveRequest.TreeScope
    tree_ms: int
    def __init__(self, screenshot: bool = ..., tree: _Optional[_Union[ObserveRequest.TreeScope, str]] = ..., max_nodes: _Optional[int] = ..., tree_ms: _Optional[int] = ..., known_image: _Optional[int] = ..., known_tree: _Optional[int] = ..., fresh_tree: bool = ..., shared_memory: bool = ...) -> None: ...

class Phases(_message.Message):
    __slots__ = ["act", "capture", "react", "settle", "tree"]
    ACT_FIELD_NUMBER: _ClassVar[int]
    CAPTURE_FIELD_NUMBER: _ClassVar[int]
    REACT_FIELD_NUMBER: _ClassVar[int]
    SETTLE_FIELD_NUMBER: _ClassVar[int]
    TREE_FIELD_NUMBER: _ClassVar[int]
    act: float
    capture: float
    react: float
    settle: float
    tree: float
    def __init__(self, act: _Optional[float] = ..., react: _Optional[float] = ..., settle: _Optional[float] = ..., capture: _Optional[float] = ..., tree: _Optional[float] = ...) -> None: ...

class Point(_message.Message):
    __slots__ = ["x_px", "y_px"]
    X_PX_FIELD_NUMBER: _ClassVar[int]
    Y_PX_FIELD_NUMBER: _ClassVar[int]
    x_px: int
    y_px: int
    def __init__(self, x_px: _Optional[int] = ..., y_px: _Optional[int] = ...) -> None: ...

class Pointer(_message.Message):
    __slots__ = ["picture", "pixels", "position"]
    PICTURE_FIELD_NUMBER: _ClassVar[int]
    PIXELS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    picture: Rect
    pixels: bytes
    position: Point
    def __init__(self, position: _Optional[_Union[Point, _Mapping]] = ..., picture: _Optional[_Union[Rect, _Mapping]] = ..., pixels: _Optional[bytes] = ...) -> None: ...

class ProbeReply(_message.Message):
    __slots__ = ["files", "inspections", "programs"]
    FILES_FIELD_NUMBER: _ClassVar[int]
    INSPECTIONS_FIELD_NUMBER: _ClassVar[int]
    PROGRAMS_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedCompositeFieldContainer[ProbedFile]
    inspections: _containers.RepeatedCompositeFieldContainer[Inspected]
    programs: _containers.RepeatedCompositeFieldContainer[Program]
    def __init__(self, programs: _Optional[_Iterable[_Union[Program, _Mapping]]] = ..., files: _Optional[_Iterable[_Union[ProbedFile, _Mapping]]] = ..., inspections: _Optional[_Iterable[_Union[Inspected, _Mapping]]] = ...) -> None: ...

class ProbeRequest(_message.Message):
    __slots__ = ["files", "fresh_inspections", "inspect_ms", "inspections", "max_file_bytes"]
    FILES_FIELD_NUMBER: _ClassVar[int]
    FRESH_INSPECTIONS_FIELD_NUMBER: _ClassVar[int]
    INSPECTIONS_FIELD_NUMBER: _ClassVar[int]
    INSPECT_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedScalarFieldContainer[str]
    fresh_inspections: bool
    inspect_ms: int
    inspections: _containers.RepeatedCompositeFieldContainer[Inspection]
    max_file_bytes: int
    def __init__(self, files: _Optional[_Iterable[str]] = ..., max_file_bytes: _Optional[int] = ..., inspections: _Optional[_Iterable[_Union[Inspection, _Mapping]]] = ..., inspect_ms: _Optional[int] = ..., fresh_inspections: bool = ...) -> None: ...

class ProbedFile(_message.Message):
    __slots__ = ["data", "exists", "path", "truncated"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    EXISTS_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    exists: bool
    path: str
    truncated: bool
    def __init__(self, path: _Optional[str] = ..., exists: bool = ..., data: _Optional[bytes] = ..., truncated: bool = ...) -> None: ...

class Program(_message.Message):
    __slots__ = ["argv", "exit_code", "id", "launches", "name", "running", "state", "stderr_tail"]
    ARGV_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LAUNCHES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STDERR_TAIL_FIELD_NUMBER: _ClassVar[int]
    argv: _containers.RepeatedScalarFieldContainer[str]
    exit_code: int
    id: int
    launches: int
    name: str
    running: bool
    state: _containers.RepeatedScalarFieldContainer[str]
    stderr_tail: str
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., argv: _Optional[_Iterable[str]] = ..., running: bool = ..., exit_code: _Optional[int] = ..., launches: _Optional[int] = ..., state: _Optional[_Iterable[str]] = ..., stderr_tail: _Optional[str] = ...) -> None: ...

class PutFileChunk(_message.Message):
    __slots__ = ["data", "path"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    path: str
    def __init__(self, path: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class PutFileReply(_message.Message):
    __slots__ = ["size"]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    size: int
    def __init__(self, size: _Optional[int] = ...) -> None: ...

class Rect(_message.Message):
    __slots__ = ["height_px", "width_px", "x_px", "y_px"]
    HEIGHT_PX_FIELD_NUMBER: _ClassVar[int]
    WIDTH_PX_FIELD_NUMBER: _ClassVar[int]
    X_PX_FIELD_NUMBER: _ClassVar[int]
    Y_PX_FIELD_NUMBER: _ClassVar[int]
    height_px: int
    width_px: int
    x_px: int
    y_px: int
    def __init__(self, x_px: _Optional[int] = ..., y_px: _Optional[int] = ..., width_px: _Optional[int] = ..., height_px: _Optional[int] = ...) -> None: ...

class ScreenSize(_message.Message):
    __slots__ = ["height_px", "width_px"]
    HEIGHT_PX_FIELD_NUMBER: _ClassVar[int]
    WIDTH_PX_FIELD_NUMBER: _ClassVar[int]
    height_px: int
    width_px: int
    def __init__(self, width_px: _Optional[int] = ..., height_px: _Optional[int] = ...) -> None: ...

class SettlePolicy(_message.Message):
    __slots__ = ["change_ms", "deadline_ms", "quiet_ms"]
    CHANGE_MS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    QUIET_MS_FIELD_NUMBER: _ClassVar[int]
    change_ms: int
    deadline_ms: int
    quiet_ms: int
    def __init__(self, quiet_ms: _Optional[int] = ..., deadline_ms: _Optional[int] = ..., change_ms: _Optional[int] = ...) -> None: ...

class ShutdownReply(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ShutdownRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class StepReply(_message.Message):
    __slots__ = ["observation", "phases", "probe", "settled", "step_id"]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    PHASES_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    observation: Observation
    phases: Phases
    probe: ProbeReply
    settled: bool
    step_id: int
    def __init__(self, step_id: _Optional[int] = ..., settled: bool = ..., observation: _Optional[_Union[Observation, _Mapping]] = ..., probe: _Optional[_Union[ProbeReply, _Mapping]] = ..., phases: _Optional[_Union[Phases, _Mapping]] = ...) -> None: ...

class StepRequest(_message.Message):
    __slots__ = ["input", "observe", "probe", "settle", "step_id"]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OBSERVE_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    SETTLE_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    input: Input
    observe: ObserveRequest
    probe: ProbeRequest
    settle: SettlePolicy
    step_id: int
    def __init__(self, step_id: _Optional[int] = ..., input: _Optional[_Union[Input, _Mapping]] = ..., settle: _Optional[_Union[SettlePolicy, _Mapping]] = ..., observe: _Optional[_Union[ObserveRequest, _Mapping]] = ..., probe: _Optional[_Union[ProbeRequest, _Mapping]] = ...) -> None: ...

class Tile(_message.Message):
    __slots__ = ["data", "place"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    place: Rect
    def __init__(self, place: _Optional[_Union[Rect, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class Tree(_message.Message):
    __slots__ = ["generation", "nodes", "parents", "truncated", "unchanged"]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    generation: int
    nodes: _containers.RepeatedScalarFieldContainer[bytes]
    parents: _containers.RepeatedScalarFieldContainer[int]
    truncated: bool
    unchanged: bool
    def __init__(self, generation: _Optional[int] = ..., unchanged: bool = ..., parents: _Optional[_Iterable[int]] = ..., nodes: _Optional[_Iterable[bytes]] = ..., truncated: bool = ...) -> None: ...

class Window(_message.Message):
    __slots__ = ["active", "extents", "id", "program_id", "title"]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    EXTENTS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    active: bool
    extents: Rect
    id: int
    program_id: int
    title: str
    def __init__(self, id: _Optional[int] = ..., title: _Optional[str] = ..., extents: _Optional[_Union[Rect, _Mapping]] = ..., active: bool = ..., program_id: _Optional[int] = ...) -> None: ...

class WindowRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: int
    def __init__(self, id: _Optional[int] = ...) -> None: ...
