-- Reports what Celestia shows, and takes what set-ups ask for; its Lua hook (see `app.py`).
--
-- At each frame it reports what has changed, a line of JSON for each subject, on a channel that nothing else of the
-- guest can open (see `channel.c`). What cannot be read is reported as null. Lua 5.1 to 5.4, and LuaJIT.

local REQUEST = os.getenv("HOME") .. "/.celestia/request"
local KM_PER_MICROLIGHTYEAR = 9460730.4725808
local DEGREES = 180 / math.pi
local HOME_TICK = 3 -- before it the program itself sets the time
local BODIES = {
  "Sol", "Sol/Mercury", "Sol/Venus", "Sol/Earth", "Sol/Earth/Moon", "Sol/Mars", "Sol/Mars/Phobos", "Sol/Jupiter",
  "Sol/Jupiter/Io", "Sol/Jupiter/Europa", "Sol/Jupiter/Ganymede", "Sol/Jupiter/Callisto", "Sol/Saturn",
  "Sol/Saturn/Titan", "Sol/Uranus", "Sol/Neptune", "Sol/Neptune/Triton",
}

local channel = assert(io.open("/sci_gym/state", "w"))
local said, ticks, done = {}, 0, 0

-- JSON ----------------------------------------------------------------------------------------------------------

local LIST = {} -- the metatable of lists, which are not told from tables without it

local function list(items) return setmetatable(items, LIST) end

local encode

local function encode_text(text)
  local escaped = text:gsub('[%c"\\]', function(letter) return ("\\u%04x"):format(letter:byte()) end)
  return '"' .. escaped .. '"'
end

local function encode_table(value)
  local parts = {}
  if getmetatable(value) == LIST then
    for _, item in ipairs(value) do parts[#parts + 1] = encode(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, item in pairs(value) do parts[#parts + 1] = encode_text(name) .. ":" .. encode(item) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

function encode(value)
  local kind = type(value)
  if kind == "table" then return encode_table(value) end
  if kind == "string" then return encode_text(value) end
  if kind == "boolean" then return tostring(value) end
  if kind == "number" and value == value and math.abs(value) < math.huge then return ("%.15g"):format(value) end
  return "null"
end

local function say(what, is)
  local line = '{"what":' .. encode_text(what) .. ',"is":' .. encode(is) .. "}\n"
  if said[what] ~= line then
    said[what] = line
    channel:write(line)
    channel:flush()
  end
end

-- What is reported ----------------------------------------------------------------------------------------------

local function path_of(object)
  local info = object:getinfo()
  local parent = info.type ~= "star" and info.parent
  return parent and path_of(parent) .. "/" .. object:name() or object:name()
end

local function julian_day_utc(tdb)
  local date = celestia:tdbtoutc(tdb)
  return celestia:tojulianday(date.year, date.month, date.day, date.hour, date.minute, date.seconds)
end

local function time()
  local tdb = celestia:gettime()
  return {
    tdb = tdb,
    utc = julian_day_utc(tdb),
    scale = celestia:gettimescale(),
    paused = celestia:ispaused(),
    light_delay = celestia:getrenderflags().lightdelay,
  }
end

-- Kilometres from one position to another, along the axes of the ecliptic of J2000.
local function offset_km(from, to)
  return list({
    (to:getx() - from:getx()) * KM_PER_MICROLIGHTYEAR,
    (from:getz() - to:getz()) * KM_PER_MICROLIGHTYEAR,
    (to:gety() - from:gety()) * KM_PER_MICROLIGHTYEAR,
  })
end

local function bodies()
  local sun, found = celestia:find("Sol"):getposition(), {}
  for _, path in ipairs(BODIES) do
    local body = celestia:find(path)
    if body:type() ~= "null" then
      found[path] = {at = offset_km(sun, body:getposition()), radius = body:radius()}
    end
  end
  return found
end

local function observer()
  local view = celestia:getobserver()
  local frame, turn = view:getframe(), view:getorientation()
  local reference, target, tracked = frame:getrefobject(), frame:gettargetobject(), view:gettrackedobject()
  local axis = turn:imag()
  return {
    at = offset_km(celestia:find("Sol"):getposition(), view:getposition()),
    orientation = list({turn:real(), axis:getx(), axis:gety(), axis:getz()}),
    field_of_view = view:getfov() * DEGREES,
    frame = frame:getcoordinatesystem(),
    reference = reference and reference:type() ~= "null" and path_of(reference) or "",
    target = target and target:type() ~= "null" and path_of(target) or "",
    tracked = tracked and tracked:type() ~= "null" and path_of(tracked) or "",
    travelling = view:travelling(),
    speed = view:getspeed(),
    views = #celestia:getobservers(),
    url = celestia:geturl(view),
    window = list({celestia:getwindowdimension()}),
  }
end

-- Where the observer is over an object: longitude and latitude in degrees, as the program's own dialog has them.
local function above(object, view)
  local place = celestia:newframe("bodyfixed", object):to(view:getposition())
  local x, y, z = place:getx(), -place:getz(), place:gety()
  return math.atan2 and math.atan2(y, x) * DEGREES or math.atan(y, x) * DEGREES,
    math.asin(z / math.sqrt(x * x + y * y + z * z)) * DEGREES
end

local INFO = {
  "radius", "mass", "albedo", "rotationPeriod", "orbitPeriod", "oblateness", "hasRings", "temperature", "luminosity",
  "absoluteMagnitude", "stellarClass", "hubbleType", "featureType", "size",
}

local function selection()
  local object, view = celestia:getselection(), celestia:getobserver()
  local found = {type = object:type(), name = "", path = ""}
  if found.type == "null" then return found end
  local info = object:getinfo()
  for _, name in ipairs(INFO) do found[name] = info[name] end
  found.name, found.path = object:name(), path_of(object)
  found.distance = view:getposition():distanceto(object:getposition())
  found.longitude, found.latitude = above(object, view)
  return found
end

local function shown()
  return {
    render = celestia:getrenderflags(),
    label = celestia:getlabelflags(),
    orbit = celestia:getorbitflags(),
    location = celestia:getobserver():getlocationflags(),
    faintest = celestia:getfaintestvisible(),
    faintest_at_45_degrees = celestia.getfaintestam45deg and celestia:getfaintestam45deg(),
    star_style = celestia:getstarstyle(),
    textures = celestia:gettextureresolution(),
    ambient = celestia:getambient(),
  }
end

local watched = {} -- objects that a set-up has asked to be told of, by name

-- A planet, moon or the like by its name alone, those nearer to the top first.
local function below(object, name)
  local children = object:getchildren()
  for _, child in ipairs(children) do
    if child:name() == name then return child end
  end
  for _, child in ipairs(children) do
    local found = below(child, name)
    if found then return found end
  end
end

local function watch(kind, name)
  local object = celestia:find(name)
  if kind == "body" then object = below(celestia:find("Sol"), name) end
  if object and object:type() ~= "null" then watched[name] = {kind = kind, object = object} end
end

local function told_of_watched()
  local view, found = celestia:getobserver():getposition(), {}
  for name, one in pairs(watched) do
    local position = one.object:getposition()
    found[name] = {
      kind = one.kind,
      position = list({position:getx(), position:gety(), position:getz()}),
      away = offset_km(view, position),
      distance = view:distanceto(position),
      radius = one.object:radius(),
      visible = one.object:visible(),
    }
  end
  return found
end

local SUBJECTS = {
  time = time, bodies = bodies, observer = observer, selection = selection, shown = shown, watched = told_of_watched,
}

local function report()
  for what, reader in pairs(SUBJECTS) do
    local whole, is = pcall(reader)
    say(what, whole and is or nil)
    if not whole then say("error " .. what, tostring(is)) end
  end
  say("main", {done = done})
end

-- What set-ups ask for ------------------------------------------------------------------------------------------

-- So many kilometres from an object's middle, over a longitude and latitude in radians.
local function place_over(object, distance, longitude, latitude)
  local far, across = distance / KM_PER_MICROLIGHTYEAR, math.cos(latitude)
  local x, y, z = math.cos(longitude) * across, math.sin(latitude), -math.sin(longitude) * across
  return celestia:newframe("bodyfixed", object):from(celestia:newposition(far * x, far * y, far * z))
end

local VERBS = {
  time = function(...) celestia:settime(celestia:utctotdb(...)) end,
  rate = function(scale) celestia:settimescale(scale) end,
  paused = function(yes) celestia:pause(yes == 1) end,
  select = function(path) celestia:select(celestia:find(path)) end,
  go = function(path, distance, longitude, latitude)
    local view, object = celestia:getobserver(), celestia:find(path)
    view:follow(object)
    view:setposition(place_over(object, distance, longitude / DEGREES, latitude / DEGREES))
    view:lookat(object:getposition(), celestia:newvector(0, 1, 0))
  end,
  render = function(flag, yes) celestia:setrenderflags({[flag] = yes == 1}) end,
  label = function(flag, yes) celestia:setlabelflags({[flag] = yes == 1}) end,
  orbit = function(flag, yes) celestia:setorbitflags({[flag] = yes == 1}) end,
  faintest = function(magnitude) celestia:setfaintest(magnitude) end,
  watch = function(kind, name) watch(kind, tostring(name)) end,
}

local function apply(lines)
  for line in lines:gmatch("[^\n]+") do
    local words = {}
    for word in line:gmatch("[^\t]+") do words[#words + 1] = tonumber(word) or word end
    local verb = VERBS[table.remove(words, 1)]
    if verb then verb((table.unpack or unpack)(words)) end
  end
end

-- A request is removed before it is followed: what a task is about is nothing for a policy to read.
local function serve()
  local file = io.open(REQUEST)
  if not file then return end
  local number, lines = file:read("*a"):match("^(%d+)\n(.*)\nend\n$")
  file:close()
  if number and tonumber(number) ~= done then
    os.remove(REQUEST)
    done = tonumber(number)
    local whole, wrong = pcall(apply, lines)
    say("refused", not whole and tostring(wrong) or nil)
  end
end

-- Galaxies alone take three quarters of a frame's time under software GL.
local HOME = [[
time	2024	6	1	12	0	0
rate	1
paused	1
render	galaxies	0
select	Sol/Earth
go	Sol/Earth	150000	0	20]]

celestia:setluahook({
  tick = function()
    ticks = ticks + 1
    if ticks < HOME_TICK then return false end
    if ticks == HOME_TICK then apply(HOME) end
    serve()
    report()
    return false
  end,
})
